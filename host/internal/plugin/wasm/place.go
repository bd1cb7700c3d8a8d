package wasm

import (
	"path"
	"strings"
)

// findPlace says where in a guest's code a call ended, as far as that is known: from
// the stack that Go prints with a panic the function, the file and the line; else
// from wazero's stack the function, and the line where the module has that.
func findPlace(output string, err error) string {
	if p := placeInGo(output); p != "" {
		return p
	}
	return placeInWasm(err.Error())
}

// placeInGo reads what Go prints with a panic: for each function a line of its name
// and arguments, and one of its file, tab first. The first function that is neither the
// standard library's nor the SDK's is the plugin's own.
func placeInGo(output string) string {
	_, stack, ok := strings.Cut(output, "\n\ngoroutine ")
	if !ok {
		return ""
	}
	stack, _, _ = strings.Cut(stack, "\n\n") // other goroutines
	lines := strings.Split(stack, "\n")
	found := ""
	for i := 1; i+1 < len(lines); i += 2 {
		file, isFile := strings.CutPrefix(lines[i+1], "\t")
		first, _, _ := strings.Cut(file, "/")
		if !isFile || !strings.Contains(first, ".") {
			continue
		}
		file, _, _ = strings.Cut(file, " ")
		name := path.Base(lines[i])
		if at := strings.LastIndexByte(name, '('); at > 0 {
			name = name[:at]
		}
		place := name + " (" + file + ")"
		if !strings.Contains(file, "/parley/sdk/") && !strings.Contains(file, "/parley/abi/") && !strings.Contains(file, "/parley@") {
			return place
		}
		if found == "" {
			found = place
		}
	}
	return found
}

// placeInWasm reads wazero's stack: for each function a line, tab first, and where the
// module has lines of its source those, two tabs first.
func placeInWasm(text string) string {
	_, stack, ok := strings.Cut(text, "wasm stack trace:\n")
	if !ok {
		return ""
	}
	lines := strings.Split(stack, "\n")
	for i, line := range lines {
		name := strings.TrimPrefix(strings.TrimPrefix(line, "\t"), ".")
		if strings.HasPrefix(name, "\t") || strings.HasPrefix(name, "parley.") || strings.HasPrefix(name, "runtime.") {
			continue
		}
		if at := strings.IndexByte(name, '('); at > 0 {
			name = name[:at]
		}
		if number, unnamed := strings.CutPrefix(name, "$"); unnamed {
			name = "function " + number + ", whose name the module does not have"
		}
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\t\t") {
			name += " (" + strings.TrimSpace(lines[i+1]) + ")"
		}
		return name
	}
	return ""
}
