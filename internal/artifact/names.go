// Package artifact knows the files of a session: what a round-meta.json or
// map-meta.json payload may hold, where each file lies, and how one is
// replaced on disk so that the replacement can be taken back.
//
// It knows neither the database nor the workflow. A caller parses a payload,
// replaces the file, commits its transaction, and then keeps or undoes the
// replacement.
package artifact

import (
	"fmt"
	"path"
)

// All names are slash paths relative to the artifact directory of a session.
// Rounds and runs count from 1.

// RoundDir is the directory of review round n.
func RoundDir(n int64) string { return fmt.Sprintf("rounds/round-%d", n) }

// RoundMeta is the recorded payload of review round n.
func RoundMeta(n int64) string { return path.Join(RoundDir(n), "round-meta.json") }

// RoundFinal is the finished review of round n, for people.
func RoundFinal(n int64) string { return path.Join(RoundDir(n), "final.md") }

// RoundDiscourse is the discussion among the reviewers of round n.
func RoundDiscourse(n int64) string { return path.Join(RoundDir(n), "discourse.md") }

// RoundReviews is the directory of the reviewers' own texts in round n.
func RoundReviews(n int64) string { return path.Join(RoundDir(n), "reviews") }

// Review is the text of one reviewer in round n. The reviewer type is used as
// given: the name is meant for recording, and Dir refuses to write it if it
// leads out of the directory.
func Review(n int64, reviewerType string, instance int64) string {
	return fmt.Sprintf("%s/%s-%d.md", RoundReviews(n), reviewerType, instance)
}

// MapDir is the directory of map run n.
func MapDir(n int64) string { return fmt.Sprintf("map/runs/run-%d", n) }

// MapMeta is the recorded payload of map run n.
func MapMeta(n int64) string { return path.Join(MapDir(n), "map-meta.json") }

// MapFinal is the finished map of run n, for people.
func MapFinal(n int64) string { return path.Join(MapDir(n), "map.md") }
