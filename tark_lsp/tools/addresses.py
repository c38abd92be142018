"""Whether an address is on the public internet: the allowlist that keeps the model out of private networks. Pure.

Sources: IANA's special-purpose address registries, from `ipaddress`; RFC 6052 (NAT64), RFC 3056 (6to4).
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

GLOBAL_UNICAST = IPv6Network("2000::/3")
NAT64 = IPv6Network("64:ff9b::/96")
"""The prefix with which an IPv6-only network reaches IPv4. The last 32 bits are the IPv4 address."""
SPECIAL_4 = tuple(map(IPv4Network, ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32")))
"""IETF protocol assignments and 6to4 relays (Python 3.11 treats parts of both as global), Azure's metadata service."""
SPECIAL_6 = tuple(map(IPv6Network, ("2001::/23", "2002::/16", "3fff::/20")))
"""Teredo and other tunnels, 6to4 (both contain another address), documentation."""


def is_public(address: str) -> bool:
    """False for loopback, private, link-local (cloud metadata), multicast and reserved addresses, and other text."""
    try:
        return _is_public(ip_address(address))
    except ValueError:
        return False


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv4Address):
        special = address.is_multicast or address.is_reserved or any(address in network for network in SPECIAL_4)
        return address.is_global and not special
    if address.ipv4_mapped is not None:
        return _is_public(address.ipv4_mapped)
    if address in NAT64:
        return _is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
    return address in GLOBAL_UNICAST and address.is_global and not any(address in network for network in SPECIAL_6)
