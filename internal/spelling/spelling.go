// Package spelling finds the name that somebody meant who wrote another one.
package spelling

import "strings"

// Nearest returns the name that a person who typed word most likely meant, or
// "" when none is near: the one it abbreviates or lengthens, else the one with
// the fewest single letters changed, up to a third of the word.
func Nearest(word string, names []string) string {
	word = strings.ToLower(word)
	best, fewest := "", max(len(word)/3, 1)+1
	for _, name := range names {
		changes := distance(word, name)
		if len(word) > 2 && len(name) > 2 && (strings.HasPrefix(name, word) || strings.HasPrefix(word, name)) {
			changes = min(changes, 1)
		}
		if len(name) > 1 && changes < fewest {
			best, fewest = name, changes
		}
	}
	return best
}

// distance counts the letters to insert, delete or replace to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
