"""Write the store of the newest revision, to be committed when a revision is released."""

from tests.stores import write_newest

print(write_newest())
