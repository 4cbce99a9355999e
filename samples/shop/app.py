"""The shop, as its username sees it."""


def first(items):
    """Teh first one."""
    return items[0]


class Cart:
    def __init__(self, items):
        self.items = items


    def total(self):  # Teh sum
        prices = self.items
        return sum(prices)


def bill(cart):
    total = cart.total()
    return total
