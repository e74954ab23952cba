"""The one judge of a window: size, limit, trigger, forecast, contents, fixed context."""
