package project

import "path/filepath"

// Holding is the project that a database file belongs to, judged by its place
// alone. For a file that lies elsewhere it is the folder of the file.
func Holding(database string) Project {
	data := filepath.Dir(database)
	if filepath.Base(data) == "data" && filepath.Base(filepath.Dir(data)) == Marker {
		return Project{Root: filepath.Dir(filepath.Dir(data))}
	}
	return Project{Root: data}
}
