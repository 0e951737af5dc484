from scripts.results import attention_to_words

ATTENTION = [[0, 0, 0, 0], [1, 0, 0, 0], [0.2, 0.8, 0, 0], [0.5, 0.3, 0.2, 0]]


def test_shares_of_the_words_after_it():
    outputs = [
        ({"metadata": {"tokens": ["A", "but", "b", "c"]}, "self_attention": ATTENTION}, True),
        ({"metadata": {"tokens": ["But"]}, "self_attention": [[0]]}, False),
        ({"metadata": {"tokens": ["a"]}, "self_attention": [[0]]}, True),
    ]
    assert attention_to_words.row_of(outputs, "but") == {
        "word": "but",
        "sentences": "2",
        "accuracy, %": "50.0",
        "of the others, %": "100.0",
        "before": "0.35 (0.42)",  # (0.2 + 0.5) / 2, and (1/2 + 1/3) / 2
        "itself": "0.55 (0.42)",
        "after": "0.10 (0.17)",
        "before at the end": "0.50 (0.33)",
        "itself at the end": "0.30 (0.33)",
        "after at the end": "0.20 (0.33)",
        "it attends to": "a 1",
    }
    assert attention_to_words.row_of(outputs, "not")["before"] == ""
