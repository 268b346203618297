//! What a measurement can tell.

/// Beyond this distance of the levels, in deviations, a single value tells them apart.
const FAR: f64 = 9.0;
/// Steps of the integral.
const STEPS: u32 = 64;

/// The bits that a value tells of whether it lies at one level or at another, `distance` standard deviations away, if it is at
/// the other one with a chance of `chance`: the mutual information of a coin and a normal value that the coin shifts.
pub(super) fn bits(chance: f64, distance: f64) -> f64 {
    if !(1e-12..=1.0 - 1e-12).contains(&chance) || distance <= 0.0 {
        return 0.0;
    }
    if distance > FAR {
        return -chance * chance.log2() - (1.0 - chance) * (1.0 - chance).log2();
    }
    let normal = |z: f64| (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    let (low, high) = (-5.0, distance + 5.0);
    let step = (high - low) / f64::from(STEPS);
    let at = |i: u32| {
        let y = low + step * f64::from(i);
        let (here, there) = (normal(y), normal(y - distance));
        let mixed = (1.0 - chance) * here + chance * there;
        let part = |weight: f64, density: f64| {
            if density > 0.0 { weight * density * (density / mixed).log2() } else { 0.0 }
        };
        part(1.0 - chance, here) + part(chance, there)
    };
    (0..=STEPS).map(at).sum::<f64>() * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_levels_tell_the_coin_and_equal_ones_nothing() {
        assert!((bits(0.5, 20.0) - 1.0).abs() < 1e-9);
        assert!((bits(0.5, 8.9) - 1.0).abs() < 1e-3);
        assert_eq!((bits(0.5, 0.0), bits(0.0, 5.0), bits(1.0, 5.0)), (0.0, 0.0, 0.0));
    }

    #[test]
    fn near_levels_tell_as_much_as_the_tables_of_a_binary_input_channel_say() {
        // The capacity at distances of 1 and 2 deviations, that is at signal-to-noise ratios of -6 dB and 0 dB
        for (distance, wanted) in [(1.0, 0.1605), (2.0, 0.4859)] {
            assert!((bits(0.5, distance) - wanted).abs() < 2e-3, "{distance}: {}", bits(0.5, distance));
        }
    }
}
