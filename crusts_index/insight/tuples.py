"""`NamedTuple` without `typing`, whose import costs half an interpreter start: for the quick paths."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    class _Maker(type):
        def __new__(cls, name, bases, space):
            if not bases:
                return super().__new__(cls, name, bases, space)
            fields = list(space["__annotations__"])
            defaults = [space.pop(field) for field in fields if field in space]
            module = space["__module__"]
            made = namedtuple(name, fields, defaults=defaults, module=module)
            for key, value in space.items():
                if key not in ("__module__", "__qualname__", "__annotations__"):
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Maker):
        """Base of named tuples: fields from the annotations, in their order; methods and properties stay."""
