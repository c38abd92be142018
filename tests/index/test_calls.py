"""Which definition a call means: that of the file, else one that is imported, else any other."""

from pathlib import Path

import pytest

from tark_lsp.index.calls import Likely, is_imported, likely
from tark_lsp.index.model import Definition, FoundDefinition, Import, SymbolKind


@pytest.mark.parametrize(
    ("path", "module", "names", "other", "expected"),
    [
        ("/p/app.py", "shop.prices", ("price",), "/p/shop/prices.py", True),
        ("/p/app.py", "shop.prices", ("price",), "/p/src/shop/prices.py", True),
        ("/p/app.py", "shop", ("prices",), "/p/shop/prices.py", True),
        ("/p/app.py", "shop", ("price",), "/p/shop/__init__.py", True),
        ("/p/app.py", "shop.prices", ("price",), "/p/bank/prices.py", False),
        ("/p/app.py", "typing", ("Any",), "/p/shop/prices.py", False),
        ("/p/a/app.py", ".", ("prices",), "/p/a/prices.py", True),
        ("/p/a/app.py", ".prices", ("price",), "/p/a/prices.py", True),
        ("/p/a/app.py", ".prices", ("price",), "/p/b/prices.py", False),
        ("/p/a/b/app.py", "..prices", ("price",), "/p/a/prices.py", True),
        ("/p/web/app.ts", "./prices", ("price",), "/p/web/prices.ts", True),
        ("/p/web/app.ts", "./prices", ("price",), "/p/old/prices.ts", False),
        ("/p/web/ui/app.ts", "../model/prices", ("price",), "/p/web/model/prices.ts", True),
        ("/p/web/app.ts", "./model", ("price",), "/p/web/model/index.ts", True),
        ("/p/web/app.ts", '"./prices.js"', (), "/p/web/prices.js", True),
        ("/p/app.go", "example.com/shop/prices", (), "/p/shop/prices/round.go", True),
        ("/p/App.java", "com.shop.Price", (), "/p/src/com/shop/Price.java", True),
        ("/p/App.java", "com.shop.Price", (), "/p/src/com/bank/Price.java", False),
        ("/p/main.rs", "crate::shop::prices", ("price",), "/p/src/shop/prices.rs", True),
        ("/p/main.c", '"prices.h"', (), "/p/include/prices.h", True),
        ("/p/main.c", "<stdio.h>", (), "/p/include/prices.h", False),
    ],
)
def test_what_an_import_can_be_of(path: str, module: str, names: tuple[str, ...], other: str, expected: bool) -> None:
    assert is_imported(path, Import(module, names, 1), other) is expected


def test_the_likely_ones_first() -> None:
    price = FoundDefinition(
        Path("/p/shop/prices.py"), Definition("price", "price", SymbolKind.FUNCTION, 1, 2, 1, 4, "def price()")
    )
    imports = [Import("shop.prices", ("price",), 1)]
    found = [
        likely("/p/shop/prices.py", [], False, price),
        likely("/p/app.py", imports, False, price),
        likely("/p/shop/cart.py", [], False, price),
        likely("/p/app.py", [], False, price),
        likely("/p/app.py", imports, True, price),
    ]
    assert found == [*Likely]
