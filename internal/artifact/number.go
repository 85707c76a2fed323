package artifact

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxInteger is the largest integer every reader of the files can hold, those
// that read numbers as 64-bit floats included.
const maxInteger = 1<<53 - 1

// decimal is the exact value of a JSON number: digits times ten to the power
// of exponent. The digits carry no zeros at either end; zero has none.
type decimal struct {
	negative bool
	digits   string
	exponent int64
}

// parseDecimal reads a JSON number that is already known to be well formed. It
// fails only on an exponent that no program could mean.
func parseDecimal(number string) (decimal, error) {
	mantissa, power, _ := strings.Cut(strings.ToLower(number), "e")
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return decimal{}, nil
	}
	exponent := int64(0)
	if power != "" {
		var err error
		if exponent, err = strconv.ParseInt(power, 10, 32); err != nil {
			return decimal{}, fmt.Errorf("the exponent of %s is out of range", quote(number))
		}
	}
	significant := strings.TrimRight(digits, "0")
	exponent += int64(len(digits) - len(significant) - len(fraction))
	return decimal{negative, significant, exponent}, nil
}

var (
	errFraction = errors.New("must be a whole number")
	errTooLarge = fmt.Errorf("must lie between -%d and %d", maxInteger, maxInteger)
)

// integer reads a JSON number whose value is whole, however it is spelled (1,
// 1.0 and 1e0 are the same number).
func integer(number string) (int64, error) {
	d, err := parseDecimal(number)
	if err != nil {
		return 0, errTooLarge
	}
	if d.digits == "" {
		return 0, nil
	}
	if d.exponent < 0 {
		return 0, errFraction
	}
	if int64(len(d.digits))+d.exponent > 18 {
		return 0, errTooLarge
	}
	n, err := strconv.ParseInt(d.digits+strings.Repeat("0", int(d.exponent)), 10, 64)
	if err != nil || n > maxInteger {
		return 0, errTooLarge
	}
	if d.negative {
		n = -n
	}
	return n, nil
}
