package artifact

import _ "embed"

// The two formats as JSON Schemas of draft 2020-12. They agree with the checks
// as far as such a schema can say them; its description names the rest. They
// take a verdict only as it is recorded, without white space around it.
var (
	//go:embed format/round.schema.json
	RoundSchema []byte
	//go:embed format/map.schema.json
	MapSchema []byte
)

// Payloads that are taken, with every key.
var (
	//go:embed format/round.example.json
	RoundExample string
	//go:embed format/map.example.json
	MapExample string
)
