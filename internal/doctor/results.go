package doctor

import (
	"context"
	"fmt"

	"ocr/db"
	"ocr/internal/artifact"
	"ocr/internal/lifecycle"
)

const resultsProbe = "probes/data_results.sql"

// contradiction is a round or run whose rows for readers contradict the log.
type contradiction struct {
	event Row
	// payload is the recorded file; fault says why it cannot stand for the
	// rows, and is empty where it can.
	payload []byte
	fault   string
}

// contradictions looks at the files of the rounds and runs that data.results
// names: one that says what the log says can be read in again.
func contradictions(ctx context.Context, c lifecycle.Caller) (list []contradiction, err error) {
	err = c.Read(ctx, func(ctx context.Context, r *db.Reader) error {
		list = nil
		x := &exam{project: c.Project, path: c.Project.Database(), reader: r}
		type key struct {
			session, event string
			number         int64
		}
		wrong := map[key]bool{}
		err := x.each(ctx, resultsProbe, func(row Row) {
			wrong[key{row.text("session_id"), row.text("event_type"), row.number("number")}] = true
		})
		if err != nil {
			return err
		}
		return x.each(ctx, "facts/completed.sql", func(event Row) {
			k := key{event.text("session_id"), event.text("event_type"), event.number("number")}
			if !wrong[k] {
				return
			}
			delete(wrong, k) // a second completion of the same counts for nothing
			found := contradiction{event: event, fault: x.artifactFault(event)}
			if found.fault == "" {
				var err error
				dir := x.project.SessionDir(event.text("session_dir"), k.session)
				if found.payload, err = artifact.Read(dir, metaOf(event)); err != nil {
					found.fault = err.Error()
				}
			}
			list = append(list, found)
		})
	})
	return list, err
}

func metaOf(event Row) string {
	if event.text("event_type") == "map_completed" {
		return artifact.MapMeta(event.number("number"))
	}
	return artifact.RoundMeta(event.number("number"))
}

// nothingToReadAgain: no file says what the log says.
func nothingToReadAgain(ctx context.Context, c lifecycle.Caller, _ Check) (string, error) {
	list, err := contradictions(ctx, c)
	if err != nil {
		return "", err
	}
	why := ""
	for _, found := range list {
		if found.fault == "" {
			return "", nil
		}
		if why == "" {
			why = fmt.Sprintf("the file of session %s does not say what the log says: %s", found.event.text("session_id"), found.fault)
		}
	}
	return why, nil
}

// readAgain reads every file in that says what the log says.
func readAgain(ctx context.Context, c lifecycle.Caller) (string, error) {
	list, err := contradictions(ctx, c)
	if err != nil {
		return "", err
	}
	var done, left []string
	for _, found := range list {
		id, number := found.event.text("session_id"), found.event.number("number")
		name := fmt.Sprintf("%s %d", id, number)
		if found.fault != "" {
			left = append(left, name+" ("+found.fault+")")
			continue
		}
		read := lifecycle.ReadRoundAgain
		if found.event.text("event_type") == "map_completed" {
			read = lifecycle.ReadMapAgain
		}
		if err := read(ctx, c, id, number, found.payload); err != nil {
			return "read again: " + listed(done), err
		}
		done = append(done, name)
	}
	detail := "read again: " + listed(done)
	if len(left) > 0 {
		detail += "; left as they are: " + listed(left)
	}
	return detail, nil
}
