//! What a leaf's values are: which JSON stands for them, in both directions.
//!
//! | Parquet | JSON |
//! |---|---|
//! | BOOLEAN | `true`, `false` |
//! | INT32, INT64, and INTEGER(bits, signed) | a number without fraction, within the bits |
//! | FLOAT, DOUBLE | a number; `"NaN"`, `"Infinity"`, `"-Infinity"` |
//! | BYTE_ARRAY as STRING, ENUM, JSON | a string |
//! | BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY | a string where the bytes are UTF-8, else base64 in a member `NAME_base64` |
//! | DATE | `"2011-06-20"` |
//! | TIME | `"17:29:12.5"` |
//! | TIMESTAMP, INT96 | `"2011-06-20T17:29:12.5Z"`, without `Z` where it is not in UTC; or the bare number |
//! | DECIMAL | a number, or a string where it has more than 15 digits |

use hammerspace_error::{Error, Kind, Result};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::schema::types::ColumnDescriptor;

use crate::column::Values;
use crate::decimal::unscaled;
use crate::time;

/// What the values of a leaf are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    Bool,
    Int {
        bits: u8,
        is_signed: bool,
    },
    Float,
    Text,
    Binary,
    /// Of so many bytes.
    Fixed(usize),
    Date,
    /// Counted in so many a second.
    Time(i64),
    Timestamp {
        per_second: i64,
        is_utc: bool,
    },
    /// In so many bytes, where those are fixed.
    Decimal {
        precision: u32,
        scale: u32,
        len: usize,
    },
}

/// Why a value does not fit.
pub(crate) type Misfit = String;

/// Digits that JSON numbers carry everywhere.
pub(crate) const DIGITS_OF_NUMBERS: u32 = 15;

impl Leaf {
    pub(crate) fn of(column: &ColumnDescriptor) -> Result<Self> {
        let plain = match column.physical_type() {
            Physical::BOOLEAN => Self::Bool,
            Physical::INT32 => Self::Int { bits: 32, is_signed: true },
            Physical::INT64 => Self::Int { bits: 64, is_signed: true },
            Physical::INT96 => Self::Timestamp { per_second: 1_000_000_000, is_utc: true },
            Physical::FLOAT | Physical::DOUBLE => Self::Float,
            Physical::BYTE_ARRAY => Self::Binary,
            Physical::FIXED_LEN_BYTE_ARRAY => Self::Fixed(usize::try_from(column.type_length()).unwrap_or(0)),
        };
        let annotated = match column.logical_type_ref() {
            Some(logical) => Self::logical(logical, plain),
            None => Self::converted(column.converted_type(), column, plain),
        };
        annotated.ok_or_else(|| {
            let what = format!("the field `{}` is of a type that JSON has no form for here", column.path().string());
            Error::new(Kind::Unsupported, what).remedy("leave it out, or give it a type without that annotation")
        })
    }

    fn logical(logical: &LogicalType, plain: Self) -> Option<Self> {
        Some(match logical {
            LogicalType::String | LogicalType::Enum | LogicalType::Json => Self::Text,
            LogicalType::Integer(int) => {
                Self::Int { bits: u8::try_from(int.bit_width).ok()?, is_signed: int.is_signed }
            }
            LogicalType::Date => Self::Date,
            LogicalType::Time(time) => Self::Time(counts(time.unit)),
            LogicalType::Timestamp(time) => {
                Self::Timestamp { per_second: counts(time.unit), is_utc: time.is_adjusted_to_u_t_c }
            }
            LogicalType::Decimal(decimal) => Self::decimal(decimal.precision, decimal.scale, plain)?,
            _ => plain,
        })
    }

    fn converted(converted: ConvertedType, column: &ColumnDescriptor, plain: Self) -> Option<Self> {
        let int = |bits, is_signed| Self::Int { bits, is_signed };
        Some(match converted {
            ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON => Self::Text,
            ConvertedType::INT_8 => int(8, true),
            ConvertedType::INT_16 => int(16, true),
            ConvertedType::INT_32 => int(32, true),
            ConvertedType::INT_64 => int(64, true),
            ConvertedType::UINT_8 => int(8, false),
            ConvertedType::UINT_16 => int(16, false),
            ConvertedType::UINT_32 => int(32, false),
            ConvertedType::UINT_64 => int(64, false),
            ConvertedType::DATE => Self::Date,
            ConvertedType::TIME_MILLIS => Self::Time(1_000),
            ConvertedType::TIME_MICROS => Self::Time(1_000_000),
            ConvertedType::TIMESTAMP_MILLIS => Self::Timestamp { per_second: 1_000, is_utc: true },
            ConvertedType::TIMESTAMP_MICROS => Self::Timestamp { per_second: 1_000_000, is_utc: true },
            ConvertedType::DECIMAL => Self::decimal(column.type_precision(), column.type_scale(), plain)?,
            _ => plain,
        })
    }

    fn decimal(precision: i32, scale: i32, plain: Self) -> Option<Self> {
        let (precision, scale) = (u32::try_from(precision).ok()?, u32::try_from(scale).ok()?);
        let len = if let Self::Fixed(len) = plain { len } else { 16 };
        (precision <= 38 && scale <= precision && len <= 16).then_some(Self::Decimal { precision, scale, len })
    }

    /// Whether its bytes may be something else than UTF-8.
    pub(crate) fn is_binary(self) -> bool {
        matches!(self, Self::Binary | Self::Fixed(_))
    }

    /// Whether its values are strings, of text or of bytes.
    pub(crate) fn is_string(self) -> bool {
        self == Self::Text || self.is_binary()
    }

    pub(crate) fn bool(self, value: bool, to: &mut Values) -> Result<(), Misfit> {
        match (self, to) {
            (Self::Bool, Values::Bool(values)) => values.push(value),
            _ => return Err(self.unfit("a boolean")),
        }
        Ok(())
    }

    pub(crate) fn integer(self, value: i128, to: &mut Values) -> Result<(), Misfit> {
        match (self, &mut *to) {
            (Self::Float, Values::Double(values)) => values.push(exact(value)?),
            (Self::Float, Values::Float(values)) => values.push(exact(value)? as f32),
            (Self::Decimal { .. }, _) => return self.decimal_text(&value.to_string(), to),
            (Self::Int { .. } | Self::Timestamp { .. }, _) => return self.whole(value, to),
            _ => return Err(self.unfit("a number")),
        }
        Ok(())
    }

    /// Stores an integer, as bits of the width that the leaf has.
    fn whole(self, value: i128, to: &mut Values) -> Result<(), Misfit> {
        if let Self::Int { bits, is_signed } = self {
            let (least, most) = if is_signed {
                (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
            } else {
                (0, (1_i128 << bits) - 1)
            };
            if value < least || value > most {
                return Err(format!("{value} is not between {least} and {most}"));
            }
        }
        match to {
            Values::Int32(values) => values.push(value as i32),
            Values::Int64(values) => {
                let fits = i64::try_from(value).is_ok() || matches!(self, Self::Int { .. });
                values.push(if fits { value as i64 } else { return Err(format!("{value} has more than 64 bits")) });
            }
            Values::Int96(values) => {
                values.push(time::to_int96(i64::try_from(value).map_err(|_| self.unfit("such a number"))?));
            }
            _ => return Err(self.unfit("a number")),
        }
        Ok(())
    }

    pub(crate) fn float(self, value: f64, to: &mut Values) -> Result<(), Misfit> {
        match (self, &mut *to) {
            (Self::Float, Values::Double(values)) => values.push(value),
            (Self::Float, Values::Float(values)) => {
                let narrow = value as f32;
                if narrow.is_infinite() && value.is_finite() {
                    return Err(format!("{value} is beyond 32 bits"));
                }
                values.push(narrow);
            }
            (Self::Decimal { .. }, _) => return self.decimal_text(&value.to_string(), to),
            (Self::Int { .. } | Self::Timestamp { .. }, _) if value.fract() == 0.0 && value.abs() < 9.0e15 => {
                return self.whole(value as i128, to);
            }
            (Self::Int { .. }, _) => return Err(format!("{value} is not a whole number")),
            _ => return Err(self.unfit("a number")),
        }
        Ok(())
    }

    pub(crate) fn text(self, text: &str, to: &mut Values) -> Result<(), Misfit> {
        match (self, &mut *to) {
            (Self::Text | Self::Binary, Values::Bytes(values)) => values.push(text.as_bytes()),
            (Self::Binary | Self::Fixed(_), _) => return self.bytes(text.as_bytes(), to),
            (Self::Float, _) => {
                let value = match text {
                    "NaN" => f64::NAN,
                    "Infinity" => f64::INFINITY,
                    "-Infinity" => f64::NEG_INFINITY,
                    _ => return Err(self.unfit("a string")),
                };
                return self.float(value, to);
            }
            (Self::Date, Values::Int32(values)) => values.push(time::parse_date(text)?),
            (Self::Time(per_second), _) => return self.whole(time::parse_time(text, per_second)?, to),
            (Self::Timestamp { per_second, .. }, _) => return self.whole(time::parse_instant(text, per_second)?, to),
            (Self::Decimal { .. }, _) => return self.decimal_text(text, to),
            _ => return Err(self.unfit("a string")),
        }
        Ok(())
    }

    pub(crate) fn bytes(self, bytes: &[u8], to: &mut Values) -> Result<(), Misfit> {
        match (self, to) {
            (Self::Binary, Values::Bytes(values)) => values.push(bytes),
            (Self::Fixed(len), Values::Fixed(values)) if bytes.len() == len => values.push(bytes),
            (Self::Fixed(len), _) => return Err(format!("it has {} bytes instead of {len}", bytes.len())),
            (Self::Text, Values::Bytes(values)) if std::str::from_utf8(bytes).is_ok() => values.push(bytes),
            _ => return Err(self.unfit("a string of bytes")),
        }
        Ok(())
    }

    fn decimal_text(self, text: &str, to: &mut Values) -> Result<(), Misfit> {
        let Self::Decimal { precision, scale, len } = self else { return Err(self.unfit("a number")) };
        let unscaled = unscaled(text, precision, scale)
            .ok_or_else(|| format!("{text} is not a number of {precision} digits, {scale} of them behind the point"))?;
        match to {
            Values::Int32(values) => values.push(i32::try_from(unscaled).map_err(|_| self.unfit(text))?),
            Values::Int64(values) => values.push(i64::try_from(unscaled).map_err(|_| self.unfit(text))?),
            Values::Bytes(values) => values.push(&unscaled.to_be_bytes()),
            Values::Fixed(values) => values.push(&unscaled.to_be_bytes()[16 - len..]),
            _ => return Err(self.unfit("a number")),
        }
        Ok(())
    }

    pub(crate) fn unfit(self, what: &str) -> Misfit {
        format!("{what} is not {}", self.named())
    }

    /// What is expected, for messages.
    fn named(self) -> String {
        match self {
            Self::Bool => "a boolean".into(),
            Self::Int { bits, is_signed: true } => format!("an integer of {bits} bits"),
            Self::Int { bits, is_signed: false } => format!("an unsigned integer of {bits} bits"),
            Self::Float => "a number".into(),
            Self::Text | Self::Binary => "a string".into(),
            Self::Fixed(len) => format!("a string of {len} bytes"),
            Self::Date => "a date".into(),
            Self::Time(_) => "a time of day".into(),
            Self::Timestamp { .. } => "a time".into(),
            Self::Decimal { precision, scale, .. } => {
                format!("a decimal of {precision} digits, {scale} behind the point")
            }
        }
    }
}

/// How many of a unit a second has.
fn counts(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::MILLIS => 1_000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000_000_000,
    }
}

/// The number as a float, if it is one.
#[expect(clippy::cast_precision_loss, reason = "a loss is looked for")]
fn exact(value: i128) -> Result<f64, Misfit> {
    let float = value as f64;
    if float as i128 == value {
        Ok(float)
    } else {
        Err(format!("{value} has more digits than a number of 64 bits holds"))
    }
}
