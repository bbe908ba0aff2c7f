from runtwice import ceilings


def test_every_ceiling_is_that_of_a_machine_of_our_days():
    """More than a hundred megabytes and megaflops a second, less than any processor there is."""
    found = ceilings.measure()
    assert set(found) == {"copy_bytes_per_s", "float64_flops_per_s", "float32_flops_per_s"}
    assert all(1e8 < value < 1e15 for value in found.values())


def test_the_rate_is_work_over_the_best_time(monkeypatch):
    """A copy reads and writes; a product of n by n takes 2 n cubed operations."""
    monkeypatch.setattr(ceilings, "_seconds", lambda action: 0.5)
    found = ceilings.measure()
    assert found["copy_bytes_per_s"] == 4 * ceilings.COPY_BYTES
    assert found["float64_flops_per_s"] == 4 * ceilings.ORDER**3
