package main

// unsound tells people why the result that was printed is no good one, and is
// the error that ends the command. Under --json the result holds the failure
// too, with the key error.
func (a *app) unsound(f failure) error {
	a.note("error: %s", f.Message)
	a.note("next: %s", f.Hint)
	return told(f.Code)
}
