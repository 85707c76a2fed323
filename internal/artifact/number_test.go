package artifact

import (
	"errors"
	"strings"
	"testing"
)

func TestInteger(t *testing.T) {
	for number, want := range map[string]int64{
		"0": 0, "-0": 0, "0.0": 0, "0e999999999999": 0, "1": 1, "-17": -17, "1.0": 1, "1e0": 1, "1E+2": 100,
		"120e-1": 12, "0.5e1": 5, "9007199254740991": maxInteger, "-9007199254740991": -maxInteger,
		"1" + strings.Repeat("0", 1000) + "e-1000": 1,
	} {
		if got, err := integer(number); err != nil || got != want {
			t.Errorf("integer(%s) = %d, %v, want %d", number, got, err, want)
		}
	}
	for number, want := range map[string]error{
		"0.5": errFraction, "1e-1": errFraction, "1.00000000000000000000001": errFraction,
		"9007199254740992": errTooLarge, "-9007199254740992": errTooLarge, "9999999999999999999999": errTooLarge,
		"1e18": errTooLarge, "1e2147483647": errTooLarge, "1e99999999999999999999": errTooLarge,
	} {
		if _, err := integer(number); !errors.Is(err, want) {
			t.Errorf("integer(%s): %v, want %v", number, err, want)
		}
	}
}
