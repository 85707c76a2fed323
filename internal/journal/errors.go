package journal

import (
	"fmt"

	"ocr/internal/lifecycle"
)

// The kinds of refusals of this package; each is a *lifecycle.Error.
const (
	KindNoProcess   = lifecycle.KindNoProcess
	KindEnded       = "process_ended"
	KindBound       = "bound_already"
	KindNoneUnbound = "no_unbound_process"
	KindNoneBound   = "no_bound_process"
	KindVendorTaken = "vendor_id_taken"
	KindBadVendorID = "bad_vendor_id"
	KindBadResult   = "bad_result"
)

func refuse(class lifecycle.Class, kind, hint, format string, args ...any) error {
	return &lifecycle.Error{Class: class, Kind: kind, Message: fmt.Sprintf(format, args...), Hint: hint}
}
