package history

import (
	"context"

	"ocr/db/gen"
)

// Collect reads the rows with these numbers as entries of now, inside the
// transaction that wrote them. A row without a uid has no name to come back
// under and is left out.
func Collect(ctx context.Context, q *gen.Queries, ids ...int64) ([]Entry, error) {
	entries := make([]Entry, 0, len(ids))
	for _, id := range ids {
		row, err := q.ExecutionGet(ctx, id)
		if err != nil {
			return nil, err
		}
		if row.UID == nil {
			continue
		}
		entries = append(entries, Entry{
			V: version, UID: *row.UID, DBID: row.ID, Command: row.Command, Args: row.Args,
			ExitCode: row.ExitCode, StartedAt: row.StartedAt, FinishedAt: row.FinishedAt,
			IsDetached: flag(row.IsDetached), Event: event(row.Status), Writer: writer,
			WorkflowID: row.WorkflowID, Vendor: row.Vendor, VendorSessionID: row.VendorSessionID,
			Persona: row.Persona, InstanceIndex: row.InstanceIndex, Name: row.Name,
			ResolvedModel: row.ResolvedModel, LastHeartbeatAt: row.LastHeartbeatAt, Notes: row.Notes,
		})
	}
	return entries, nil
}

func event(status string) string {
	switch status {
	case "running":
		return Start
	case "cancelled":
		return Cancel
	}
	return Finish
}

// Row is the entry as a row to insert. It carries no process id: that one is
// another process's by now.
func (e Entry) Row() gen.ExecutionRestoreParams {
	return gen.ExecutionRestoreParams{
		UID: &e.UID, Command: e.Command, Args: e.Args, ExitCode: e.ExitCode,
		StartedAt: e.StartedAt, FinishedAt: e.FinishedAt, IsDetached: int64(e.IsDetached),
		WorkflowID: e.WorkflowID, Vendor: e.Vendor, VendorSessionID: e.VendorSessionID,
		Persona: e.Persona, InstanceIndex: e.InstanceIndex, Name: e.Name,
		ResolvedModel: e.ResolvedModel, LastHeartbeatAt: e.LastHeartbeatAt, Notes: e.Notes,
	}
}
