"""A stand-in for torchvision: it can be imported, and every use says what is missing."""

import importlib.abc
import importlib.machinery
import sys
import types

__version__ = "0.0"

MESSAGE = (
    "{name} was called, but this environment has a stand-in for torchvision, because no "
    "torchvision matches the installed torch; install a matching torchvision to work with images"
)


class _Missing:
    """A function of torchvision that is not there."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Missing(f"{self._name}.{name}")

    def __call__(self, *arguments, **options):
        raise NotImplementedError(MESSAGE.format(name=self._name))


class _Submodule(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Missing(f"{self.__name__}.{name}")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes `import torchvision.ops.boxes` and its like give modules without contents."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.startswith(__name__ + "."):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        return _Submodule(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(_Finder())


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Missing(f"{__name__}.{name}")
