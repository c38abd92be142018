"""Which addresses a page may be fetched from: the public internet's, whatever form the others come in."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.tools.addresses import is_public

PUBLIC = "93.184.216.34 8.8.8.8 1.1.1.1 2606:4700::1111 2a00:1450:4001::1 64:ff9b::8.8.8.8 ::ffff:8.8.8.8".split()  # noqa: SIM905  # a list reads best as words
INSIDE = """127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254
    169.254.1.1 100.64.0.1 100.100.100.200 168.63.129.16 192.0.0.192 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1
    224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
    :: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe
    64:ff9b::10.0.0.1 64:ff9b:1::1 fe80::1 fe80::1%eth0 fec0::1 fc00::1 fd00:ec2::254 ff02::1 2001:db8::1
    2002:7f00:1:: 2002:a9fe:a9fe:: 2001:0:4136:e378:8000:63bf:3fff:fdd2 100::1 3fff::1 5f00::1
    localhost example.org 127.1 0x7f.1 2130706433""".split()  # noqa: SIM905  # a list reads best as words


@pytest.mark.parametrize("address", PUBLIC)
def test_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", ["", *INSIDE])
def test_not_public(address: str) -> None:
    assert not is_public(address)


@given(st.ip_addresses(v=4).filter(lambda each: not each.is_global))
def test_no_way_in_by_an_embedded_address(address: IPv4Address) -> None:
    number = int(address)
    mapped, nat64 = IPv6Address((0xFFFF << 32) + number), IPv6Address((0x64FF9B << 96) + number)
    assert not any(
        map(is_public, (str(address), str(mapped), str(nat64), str(IPv6Address((0x2002 << 112) + (number << 80)))))
    )


@given(st.text(max_size=40))
def test_anything_else_is_none(text: str) -> None:
    assert is_public(text) in (True, False)
