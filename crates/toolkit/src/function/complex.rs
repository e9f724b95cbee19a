//! Complex numbers in float64, for both of SPL's complex types.

use std::ops::{Div, Mul};

/// A complex number in Cartesian form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    const ZERO: Complex = Complex { re: 0.0, im: 0.0 };

    fn polar(modulus: f64, angle: f64) -> Complex {
        // An infinite or zero modulus on the real axis must not give a NaN imaginary part.
        let im = if angle == 0.0 {
            0.0
        } else {
            modulus * angle.sin()
        };
        Complex {
            re: modulus * angle.cos(),
            im,
        }
    }

    pub(super) fn exp(self) -> Complex {
        Complex::polar(self.re.exp(), self.im)
    }

    pub(super) fn ln(self) -> Complex {
        Complex {
            re: self.re.hypot(self.im).ln(),
            im: self.im.atan2(self.re),
        }
    }

    pub(super) fn log10(self) -> Complex {
        let Complex { re, im } = self.ln();
        Complex {
            re: re / std::f64::consts::LN_10,
            im: im / std::f64::consts::LN_10,
        }
    }

    /// Zero to any power is zero, as in C++.
    pub(super) fn pow(self, power: Complex) -> Complex {
        if self == Complex::ZERO {
            Complex::ZERO
        } else {
            (power * self.ln()).exp()
        }
    }

    /// The root in the right half plane.
    pub(super) fn sqrt(self) -> Complex {
        let Complex { re, im } = self;
        if re == 0.0 && im == 0.0 {
            return Complex { re: 0.0, im };
        }
        let large = ((re.abs() + re.hypot(im)) / 2.0).sqrt();
        let small = im.abs() / (2.0 * large);
        let (re, size) = if re >= 0.0 {
            (large, small)
        } else {
            (small, large)
        };
        Complex {
            re,
            im: size.copysign(im),
        }
    }
}

impl Mul for Complex {
    type Output = Complex;
    fn mul(self, other: Complex) -> Complex {
        Complex {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

/// Smith's method, which does not overflow on the way.
impl Div for Complex {
    type Output = Complex;
    fn div(self, by: Complex) -> Complex {
        if by.re.abs() >= by.im.abs() {
            let ratio = if by.im == 0.0 { 0.0 } else { by.im / by.re };
            let scale = by.re + by.im * ratio;
            Complex {
                re: (self.re + self.im * ratio) / scale,
                im: (self.im - self.re * ratio) / scale,
            }
        } else {
            let ratio = by.re / by.im;
            let scale = by.re * ratio + by.im;
            Complex {
                re: (self.re * ratio + self.im) / scale,
                im: (self.im * ratio - self.re) / scale,
            }
        }
    }
}

impl From<[f32; 2]> for Complex {
    fn from([re, im]: [f32; 2]) -> Complex {
        Complex {
            re: re.into(),
            im: im.into(),
        }
    }
}

impl From<[f64; 2]> for Complex {
    fn from([re, im]: [f64; 2]) -> Complex {
        Complex { re, im }
    }
}

impl From<Complex> for [f32; 2] {
    fn from(c: Complex) -> [f32; 2] {
        [c.re as f32, c.im as f32]
    }
}

impl From<Complex> for [f64; 2] {
    fn from(c: Complex) -> [f64; 2] {
        [c.re, c.im]
    }
}
