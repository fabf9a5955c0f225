//! A line chart as SVG: rate against table size, one line per way to read.

use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 210.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
const COLOURS: [&str; 5] = ["#1b6ca8", "#d1495b", "#2e933c", "#8d6a9f", "#555555"];

/// A line: its name, and a rate for each size.
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) rates: Vec<f64>,
}

/// Draws lines over sizes, which stand side by side at equal distance.
#[expect(clippy::cast_precision_loss, reason = "a handful of points")]
pub(crate) fn svg(title: &str, unit: &str, sizes: &[String], lines: &[Line]) -> String {
    let most = lines.iter().flat_map(|line| &line.rates).fold(0.0, |most: f64, rate| most.max(*rate));
    let step = round_step(most / 5.0);
    let top = (most / step).ceil() * step;
    let x = |at: usize| LEFT + (WIDTH - LEFT - RIGHT) * (at as f64 + 0.5) / sizes.len() as f64;
    let y = |rate: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * rate / top;

    let mut parts = vec![text(LEFT, TOP - 16.0, "start", &format!("{title}, {unit}"))];
    let mut rate = 0.0;
    while rate <= top {
        let (at, end) = (y(rate), WIDTH - RIGHT);
        parts.push(format!(r##"<line x1="{LEFT}" y1="{at:.1}" x2="{end}" y2="{at:.1}" stroke="#ddd"/>"##));
        parts.push(text(LEFT - 8.0, at + 4.0, "end", &format!("{rate}")));
        rate += step;
    }
    for (at, size) in sizes.iter().enumerate() {
        parts.push(text(x(at), HEIGHT - BOTTOM + 22.0, "middle", size));
    }
    for (number, (line, colour)) in lines.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let mut points = String::new();
        for (at, rate) in line.rates.iter().enumerate() {
            let (x, y) = (x(at), y(*rate));
            write!(points, "{x:.1},{y:.1} ").expect("a string takes it");
            parts.push(format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.5" fill="{colour}"/>"#));
        }
        parts.push(format!(r#"<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>"#));
        let (left, line_y) = (WIDTH - RIGHT + 16.0, TOP + 20.0 * number as f64);
        parts.push(format!(r#"<rect x="{left}" y="{line_y}" width="12" height="4" fill="{colour}"/>"#));
        parts.push(text(left + 20.0, line_y + 6.0, "start", &line.name));
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}\n</svg>\n",
        parts.join("\n")
    )
}

/// The next of 1, 2, 5, 10, 20 … that is at least `step`.
fn round_step(step: f64) -> f64 {
    let magnitude = 10_f64.powf(step.log10().floor());
    let leads = [1.0, 2.0, 5.0, 10.0];
    leads.into_iter().map(|lead| lead * magnitude).find(|round| *round >= step).unwrap_or(10.0 * magnitude)
}

fn text(x: f64, y: f64, anchor: &str, words: &str) -> String {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    format!(r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{words}</text>"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_its_points_and_higher_is_more() {
        let lines = ["fast", "slow & steady"].map(|name| Line { name: name.into(), rates: vec![8.0, 4.0] });
        let drawn = svg("reads", "M/s", &["1 k".into(), "10 k".into()], &lines);
        assert_eq!(drawn.matches("<circle").count(), 4);
        assert!(drawn.contains("slow &amp; steady"));
        let height = |at: usize| -> f64 {
            let circle = drawn.match_indices("cy=\"").nth(at).unwrap().0 + 4;
            drawn[circle..].split('"').next().unwrap().parse().unwrap()
        };
        assert!(height(0) < height(1), "8 is drawn above 4");
    }

    #[test]
    fn steps_are_round() {
        assert_eq!([0.3, 1.0, 1.4, 7.0].map(|step| round_step(step).to_string()), ["0.5", "1", "2", "10"]);
    }
}
