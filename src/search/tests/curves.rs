use super::*;
use crate::summary::made::Dice;
use proptest::prelude::*;

/// A service that holds up to `capacity` and saturates at `saturation`, beyond which good requests vanish.
fn service(load: f64, capacity: f64, saturation: f64) -> Point {
    let throughput = load.min(saturation);
    let share = if load <= capacity { 1.0 } else { (capacity / load).powi(4) };
    Point {
        ttft_p99_ms: Some(100.0 / (1.0 - (load / saturation).min(0.99))),
        goodput: Some(share),
        goodput_rps: Some(throughput * share),
        throughput_rps: Some(throughput),
        ..point(load, if load <= capacity { Held::Holds } else { Held::Breaks })
    }
}

#[test]
fn a_search_doubles_then_bisects() {
    let settings = Settings::around(Axis::Concurrency, 16.0);
    let (points, found) = search(&settings, |load, _| service(load, 50.0, 60.0));
    let loads: Vec<f64> = points.iter().map(|point| point.load).collect();
    assert_eq!(loads[..5], [4.0, 8.0, 16.0, 32.0, 64.0]);
    assert!(loads[5..].contains(&128.0), "the peaks are looked for beyond the capacity: {loads:?}");
    assert_eq!((found.stop, found.capacity, found.breaks), (Stop::Found, Some(49.0), Some(51.0)));
    assert_eq!(found.headroom, (49.0 / 16.0 - 1.0, 50.0 / 16.0 - 1.0));
    assert_eq!(found.requests, 1000 * points.len() as u64);
}

#[test]
fn where_the_first_load_breaks_lower_ones_are_tried_down_to_the_lowest() {
    let settings = Settings::around(Axis::Concurrency, 64.0);
    let (_, found) = search(&settings, |load, _| service(load, 3.0, 60.0));
    assert_eq!((found.capacity, found.breaks), (Some(3.0), Some(4.0)));
    let (points, found) = search(&settings, |load, _| service(load, 0.5, 60.0));
    assert_eq!((found.stop, found.capacity, found.breaks), (Stop::LowestBreaks, None, Some(1.0)));
    assert!(found.headroom.0 <= -1.0);
    assert_eq!(points.iter().map(|point| point.load).collect::<Vec<_>>(), [16.0, 8.0, 4.0, 2.0, 1.0]);
}

#[test]
fn a_service_that_never_breaks_ends_at_the_ceiling_and_its_headroom_has_no_upper_end() {
    let settings = Settings { to: Some(100.0), ..Settings::around(Axis::Rate, 10.0) };
    let (_, found) = search(&settings, |load, _| point(load, Held::Holds));
    assert_eq!((found.stop, found.capacity, found.breaks), (Stop::Ceiling, Some(100.0), None));
    assert_eq!(found.headroom, (9.0, f64::INFINITY));
}

#[test]
fn an_undecided_point_is_repeated_longer_and_the_last_word_counts() {
    let settings = Settings::around(Axis::Concurrency, 16.0);
    let mut efforts = Vec::new();
    let (_, found) = search(&settings, |load, effort| {
        efforts.push((load, effort));
        let undecided = (load - 32.0).abs() < 0.5 && effort < 4;
        Point { effort, ..if undecided { point(load, Held::Unsure) } else { service(load, 50.0, 60.0) } }
    });
    assert!(efforts.windows(3).any(|three| three == [(32.0, 1), (32.0, 2), (32.0, 4)]), "{efforts:?}");
    assert_eq!(found.capacity, Some(49.0));
}

#[test]
fn a_load_that_stays_undecided_is_closed_in_from_both_sides() {
    let settings = Settings { tolerance: 0.0, ..Settings::around(Axis::Concurrency, 16.0) };
    let (_, found) = search(&settings, |load, effort| {
        let held = match load {
            load if load <= 30.0 => Held::Holds,
            load if load <= 34.0 => Held::Unsure,
            _ => Held::Breaks,
        };
        Point { effort, ..point(load, held) }
    });
    assert_eq!((found.capacity, found.breaks), (Some(30.0), Some(35.0)));
}

#[test]
fn where_the_client_cannot_keep_up_the_capacity_has_no_upper_end() {
    let settings = Settings::around(Axis::Concurrency, 16.0);
    let (_, found) = search(&settings, |load, _| point(load, if load <= 40.0 { Held::Holds } else { Held::Unmeasurable }));
    assert_eq!((found.capacity, found.breaks, found.is_cut_by_client), (Some(40.0), None, true));
    assert!(found.headroom.1.is_infinite());
    let (_, found) = search(&settings, |load, _| point(load, Held::Unmeasurable));
    assert_eq!(found.stop, Stop::Unmeasurable);
}

#[test]
fn points_tokens_and_time_bound_it() {
    for (bounds, stop, most) in [
        (Bounds { points: 3, tokens: None, seconds: None }, Stop::Points, 3),
        (Bounds { points: 99, tokens: Some(250_000), seconds: None }, Stop::Budget, 3),
        (Bounds { points: 99, tokens: None, seconds: Some(61.0) }, Stop::Budget, 2),
    ] {
        let settings = Settings { bounds, ..Settings::around(Axis::Rate, 10.0) };
        let (points, found) = search(&settings, |load, _| service(load, 50.0, 60.0));
        assert_eq!((found.stop, points.len()), (stop, most));
    }
}

#[test]
fn a_headroom_rule_takes_one_point_where_that_decides_it() {
    for (capacity, expected) in [(50.0, (0.4375, f64::INFINITY)), (20.0, (-1.0, 22.0 / 16.0 - 1.0))] {
        let settings = Settings { goal: Goal::Loads(vec![16.0 * 1.4]), ..Settings::around(Axis::Concurrency, 16.0) };
        let (points, found) = search(&settings, |load, _| service(load, capacity, 60.0));
        assert_eq!(points.iter().map(|point| point.load).collect::<Vec<_>>(), [23.0], "the first whole load that proves 40 %");
        assert_eq!(found.headroom, expected);
    }
    let loads = vec![30.0, 12.0];
    let settings = Settings { goal: Goal::Loads(loads), ..Settings::around(Axis::Rate, 10.0) };
    let (points, _) = search(&settings, |load, _| service(load, 11.0, 60.0));
    assert_eq!(points.len(), 1, "what breaks at 12/s breaks at 30/s");
}

#[test]
fn the_knee_comes_first_then_the_goodput_then_the_throughput_peak() {
    let settings = Settings::around(Axis::Rate, 16.0);
    let (_, found) = search(&settings, |load, _| service(load, 40.0, 60.0));
    let (knee, good, all) = (found.knee.unwrap(), found.goodput_peak.unwrap(), found.throughput_peak.unwrap());
    assert!(knee.load <= good.load && good.load < all.load, "{found:?}");
    assert!(found.peaks_apart().unwrap() > 0.2);
}

proptest! {
    #[test]
    fn any_monotone_service_is_bracketed_within_the_tolerance(
        capacity in 1.0_f64..2000.0, target in 1_u32..500, rate in any::<bool>(), unsure in 0.0_f64..0.1, seed in any::<u64>()
    ) {
        let axis = if rate { Axis::Rate } else { Axis::Concurrency };
        let settings = Settings { to: Some(5000.0), bounds: Bounds { points: 200, tokens: None, seconds: None }, ..Settings::around(axis, f64::from(target)) };
        let mut dice = Dice::new(seed);
        let (points, found) = search(&settings, |load, effort| {
            let near = (load / capacity - 1.0).abs() < unsure / f64::from(effort);
            let held = if near && dice.uniform() < 0.7 { Held::Unsure } else { service(load, capacity, 1e9).held };
            Point { effort, ..service(load, capacity, capacity * 1.5) }.with(held)
        });
        prop_assert!(points.len() <= 60, "{} points", points.len());
        let low = found.capacity.unwrap();
        prop_assert!(low <= capacity, "{low} holds above {capacity}");
        prop_assert!(found.breaks.unwrap() > capacity);
        let slack = (1.0 + settings.tolerance) * (1.0 + unsure / 4.0 + 1e-9);
        prop_assert!(low * slack + 1.0 >= capacity || rate && low * slack >= capacity, "{low} is far below {capacity}");
        prop_assert!(found.headroom.0 <= found.headroom.1);
    }

    #[test]
    fn the_order_of_points_at_different_loads_does_not_change_what_they_come_to(capacity in 5.0_f64..100.0, turn in 0_usize..10) {
        let settings = Settings::around(Axis::Concurrency, 16.0);
        let (mut points, found) = search(&settings, |load, _| service(load, capacity, 120.0));
        let turn = turn % points.len();
        points.rotate_left(turn);
        let turned = findings(&settings, &points, found.stop);
        prop_assert_eq!((turned.capacity, turned.breaks, turned.knee), (found.capacity, found.breaks, found.knee));
    }
}

impl Point {
    fn with(self, held: Held) -> Self {
        Self { held, ..self }
    }
}
