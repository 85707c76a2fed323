package journal

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"ocr/db"
	"ocr/db/gen"
	"ocr/internal/lifecycle"
	"ocr/internal/shell"
)

// BindRequest ties a process to the session that its vendor keeps for it.
type BindRequest struct {
	// ID names the process; empty for the newest of Workflow that runs and is
	// not bound.
	ID       string
	Workflow string
	// VendorID is the vendor's name for its session.
	VendorID string
}

// maxVendorID is the length of the longest name in bytes.
const maxVendorID = 256

// Bind records the vendor's name, once, and counts as a sign of life. It
// returns the id of the process. The same name again is fine; another one is
// refused, and so are an ended process and a name that another unfinished process
// has (all Invariant).
func Bind(ctx context.Context, c lifecycle.Caller, in BindRequest) (id string, err error) {
	if !soundVendorID(in.VendorID) {
		return "", refuse(lifecycle.Usage, KindBadVendorID, "ocr session bind-vendor-id --help",
			"%q is no vendor id: letters, digits and . _ : - with a letter or digit first, at most %d", in.VendorID, maxVendorID)
	}
	err = c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		row, err := in.find(ctx, c, tx.Queries)
		if err != nil {
			return err
		}
		id = row.ID
		if bound := row.VendorSessionID; bound != nil && *bound != "" && *bound != in.VendorID {
			return refuse(lifecycle.Invariant, KindBound, "ocr session list --all",
				"process %s is bound to %s already", id, *bound)
		}
		holder, err := tx.JournalVendorHolder(ctx, in.VendorID, row.ExecutionID)
		switch {
		case err == nil:
			return refuse(lifecycle.Invariant, KindVendorTaken, "ocr session end-instance "+shell.Quote(holder)+", if that process has ended",
				"%s is the session of process %s, which has not ended: one session of a vendor belongs to one process", in.VendorID, holder)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		if err := changed(id)(tx.ExecutionBind(ctx, in.VendorID, row.ExecutionID)); err != nil {
			return err
		}
		return changed(id)(tx.ExecutionBeat(ctx, stamp(time.Now()), row.ExecutionID))
	})
	return id, err
}

func (in BindRequest) find(ctx context.Context, c lifecycle.Caller, q *gen.Queries) (gen.AgentJournal, error) {
	if in.ID != "" {
		return findRunning(ctx, q, in.ID)
	}
	session, err := c.Resolve(ctx, q, in.Workflow)
	if err != nil {
		return gen.AgentJournal{}, err
	}
	number, err := q.JournalNewestUnbound(ctx, &session.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return gen.AgentJournal{}, refuse(lifecycle.NotFound, KindNoneUnbound, "ocr session list --all",
			"session %q has no running process that is not bound", session.ID)
	}
	if err != nil {
		return gen.AgentJournal{}, err
	}
	row, err := q.JournalGet(ctx, number)
	return row.AgentJournal, err
}

// soundVendorID knows what vendors use, and nothing that a shell could take
// for more than a word.
func soundVendorID(id string) bool {
	if id == "" || len(id) > maxVendorID || strings.ContainsRune("._:-", rune(id[0])) {
		return false
	}
	return strings.IndexFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("._:-", r)
	}) < 0
}
