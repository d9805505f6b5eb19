"""``python -m volary`` is the command ``volary``."""

from volary import main

main()
