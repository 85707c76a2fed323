package doctor

// disk is the file system that holds a folder.
type disk struct {
	// kind is the name of the file system, empty when it is not known.
	kind string
	// network: several machines may write it.
	network bool
}
