package lifecycle

import (
	"context"

	"ocr/db/gen"
)

// The phases that verbs know by name; all others come from workflow_phases.
const (
	phaseSynthesis = "synthesis"
	phaseComplete  = "complete"
)

// phases are the phases of one workflow in order; a phase's number is its
// place, from 1.
type phases []string

// loadPhases refuses (Invariant) a workflow that has none.
func loadPhases(ctx context.Context, q *gen.Queries, workflow string) (phases, error) {
	rows, err := q.WorkflowPhases(ctx, workflow)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, refuse(Invariant, KindUnknownWorkflow, "ocr doctor --check data.values", "there is no workflow %q", workflow)
	}
	names := make(phases, len(rows))
	for i, row := range rows {
		names[i] = row.Phase
	}
	return names, nil
}

func (p phases) first() string { return p[0] }

// number is the place of a phase, or 0 when the workflow has no such phase.
func (p phases) number(phase string) int64 {
	for i, name := range p {
		if name == phase {
			return int64(i + 1)
		}
	}
	return 0
}

// after lists the phases that follow one, the last included.
func (p phases) after(phase string) []string { return p[p.number(phase):] }
