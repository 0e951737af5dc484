"""The connection that is closed for a new one, and the time limits of connections."""

import asyncio

from allennlp_sentmatch.serving.connections import Connection, Connections


class Transport:
    """Records the operations on a connection."""

    def __init__(self):
        self.written = b""
        self.is_closed = False

    def write(self, data):
        self.written += data

    def close(self):
        self.is_closed = True


def run(check):
    """Run a function within a loop, which the clocks of connections need."""

    async def within():
        check()

    asyncio.run(within())


def connected(connections):
    transport = Transport()
    connection = Connection(transport)
    connections.add(connection)
    return connection, transport


def test_the_oldest_connection_without_a_request_gives_way():
    def check():
        connections = Connections(most=2)
        busy, busy_transport = connected(connections)
        _, idle = connected(connections)
        busy.begin_request()
        busy.complete_request()
        _, newer = connected(connections)
        assert [one.is_closed for one in (busy_transport, idle, newer)] == [False, True, False]
        assert idle.written.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert b"\r\nRetry-After: 5\r\n" in idle.written

    run(check)


def test_a_new_connection_is_refused_where_all_others_are_being_answered():
    def check():
        connections = Connections(most=1)
        busy, transport = connected(connections)
        busy.begin_request()
        busy.complete_request()
        _, refused = connected(connections)
        assert not transport.is_closed
        assert refused.is_closed
        busy.end_request(was_whole=True)
        connected(connections)
        assert transport.is_closed

    run(check)


def test_a_request_may_begin_before_the_last_one_has_ended():
    """Uvicorn begins the next of several requests at once while the last function returns."""

    def check():
        connection = Connection(Transport())
        connection.begin_request()
        connection.complete_request()
        connection.begin_request()
        connection.end_request(was_whole=True)
        assert not connection.has_request
        connection.complete_request()
        assert connection.has_request
        connection.end_request(was_whole=True)
        assert not connection.has_request

    run(check)
