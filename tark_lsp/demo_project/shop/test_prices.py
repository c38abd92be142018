"""Run with: python -m unittest"""

import unittest

from .page import summary
from .prices import average


class Prices(unittest.TestCase):
    def test_average(self) -> None:
        assert average([100, 300]) == 200

    def test_an_empty_basket(self) -> None:
        assert average([]) == 0
        assert summary([]) == "0 things, 0 cents, 0 on average"
