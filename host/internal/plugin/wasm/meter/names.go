package meter

// names returns the name section that r reads with the numbers of functions
// moved. Of its parts it keeps the module's name and those of functions, which
// are what a stack trace shows. Where it is malformed ok is false, and it is to
// be left out: as a custom section it has no meaning to the module.
func (w *rewriter) names(r *reader) (out []byte, ok bool) {
	const moduleName, functionNames = 0, 1
	last := -1
	for r.more() {
		id := r.byte()
		part := r.sub(r.u32())
		if r.err != nil || int(id) <= last {
			return nil, false
		}
		last = int(id)
		switch id {
		case moduleName:
			part.name()
			if part.err != nil || part.more() {
				return nil, false
			}
			out = appendSection(out, id, part.b)
		case functionNames:
			body := w.functionNames(part)
			if part.err != nil || part.more() {
				return nil, false
			}
			out = appendSection(out, id, body)
		}
	}
	return out, r.err == nil
}

func (w *rewriter) functionNames(r *reader) []byte {
	n := r.count()
	out := appendU32(nil, n)
	for range n {
		out = appendU32(out, w.moved(r))
		out = appendName(out, string(r.name()))
	}
	return out
}
