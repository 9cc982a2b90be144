//! Points in time, for people.

use std::time::{SystemTime, UNIX_EPOCH};

/// A time to the minute, by the clock that is the same everywhere: `2026-11-27 15:33 UTC`.
pub fn text(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map(|passed| passed.as_secs()).unwrap_or_default();
    let (year, month, day) = date(seconds / 86_400);
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", seconds / 3600 % 24, seconds / 60 % 60)
}

/// The date of a day since 1970-01-01, by the Gregorian calendar.
fn date(day: u64) -> (u64, u64, u64) {
    // Years begin with March here, so that a leap day is the last day of its year; 400 of them have 146,097 days.
    let day = day + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, of_month)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn leap_years_have_their_days() {
        let at = |seconds| text(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01 00:00 UTC");
        assert_eq!(at(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(at(1_709_251_199), "2024-02-29 23:59 UTC");
        assert_eq!(at(4_107_542_400), "2100-03-01 00:00 UTC");
    }
}
