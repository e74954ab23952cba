"""`NamedTuple` for the quick paths: importing `typing` costs half an interpreter start, and making one of
`collections.namedtuple` a hundred times what a class costs."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    try:
        from _collections import _tuplegetter
    except ImportError:

        def _tuplegetter(place, doc):
            return property(lambda self: self[place], doc=doc)

    _new = tuple.__new__

    def _create(cls, *values, **named):
        fields = cls._fields
        if named or len(values) != len(fields):
            values = _completed(cls, values, named)
        return _new(cls, values)

    def _completed(cls, values, named):
        fields, defaults = cls._fields, cls._field_defaults
        left = fields[len(values) :]
        if named and len(left) == len(named):
            try:
                return (*values, *[named[field] for field in left])
            except KeyError:
                pass  # told below
        if len(values) <= len(fields) and (not named or named.keys() <= set(left)):
            try:
                return (*values, *[named[field] if field in named else defaults[field] for field in left])
            except KeyError:
                pass  # told below
        if len(values) > len(fields):
            raise TypeError(f"{cls.__name__} has {len(fields)} fields, {len(values)} values were given")
        twice = named.keys() & set(fields[: len(values)])
        rest = [named.pop(field, defaults.get(field, ...)) for field in left]
        if twice or named:
            raise TypeError(f"{cls.__name__}: given twice or no field: {', '.join(sorted(twice or named))}")
        if ... in rest:
            raise TypeError(f"{cls.__name__}: not given: {fields[len(values) + rest.index(...)]}")
        return (*values, *rest)

    class _Row(tuple):
        __slots__ = ()
        _field_defaults = {}  # noqa: RUF012 - never written to
        __new__ = _create

        @classmethod
        def _make(cls, values):
            made = _new(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"{cls.__name__} has {len(cls._fields)} fields, {len(made)} values were given")
            return made

        def _replace(self, /, **changes):
            values = [changes.pop(field, value) for field, value in zip(self._fields, self, strict=True)]
            if changes:
                raise ValueError(f"{type(self).__name__}: no field: {', '.join(changes)}")
            return _new(type(self), values)

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            fields = (f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({', '.join(fields)})"

        def __getnewargs__(self):
            return tuple(self)

    _getters = []  # of the first value, the second …: every class shares them, since each costs memory and time

    class _Maker(type):
        def __new__(cls, name, bases, space):
            if not bases:
                return super().__new__(cls, name, bases, space)
            fields = tuple(space["__annotations__"])
            defaults = {field: space.pop(field) for field in fields if field in space}
            if defaults:
                space["_field_defaults"] = defaults
            while len(_getters) < len(fields):
                _getters.append(_tuplegetter(len(_getters), None))
            space.update(zip(fields, _getters, strict=False))
            space["__slots__"] = ()
            space["_fields"] = space["__match_args__"] = fields
            return type(name, (_Row,), space)

    class NamedTuple(metaclass=_Maker):
        """Base of named tuples: fields from the annotations, in their order; methods and properties stay."""
