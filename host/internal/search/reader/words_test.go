package reader_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"

	"github.com/parley-search/parley/host/internal/search/reader"
	"github.com/parley-search/parley/host/internal/search/reader/pdf"
)

// wordsOf counts the words of a text: runs of letters and digits, in lower case.
func wordsOf(texts ...string) map[string]int {
	count := map[string]int{}
	for _, t := range texts {
		for _, w := range strings.FieldsFunc(strings.ReplaceAll(t, "\u00ad", ""), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
			count[strings.ToLower(w)]++
		}
	}
	return count
}

// readWords reads a file, and counts the words of its passages: those of titles and headings as often as they
// may stand above something.
func readWords(t testing.TB, r *reader.Reader, name string, data []byte) (map[string]int, *reader.Page) {
	page, err := r.Read(context.Background(), name, data)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	docs, err := (&reader.Source{Name: "s"}).Documents(name, page)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	count := map[string]int{}
	for i := range docs {
		for w, n := range wordsOf(docs[i].Text) {
			count[w] += n
		}
		for w := range wordsOf(docs[i].Title, strings.Join(docs[i].Headings, " ")) {
			count[w] += 100
		}
	}
	return count, page
}

// unexplained counts the words of a text that are in no passage of its page, and that no rule leaves out. The
// numbers of lists are not counted: they may be given anew. A word that the passages have more often is one of several
// that a tag or an emphasis parted, as in a<b>b</b>.
func unexplained(in, out map[string]int, page *reader.Page) (n int, list []string) {
	joined := map[string]int{}
	for w, k := range out {
		if k > in[w] {
			joined[w] = k - in[w]
		}
	}
	for w, k := range in {
		if k <= out[w] || len(w) >= 100 || !strings.ContainsFunc(w, unicode.IsLetter) { // a longer word may be cut
			continue
		}
		missing := k - out[w]
		for j, k := range joined {
			missing -= k * strings.Count(j, w)
		}
		if missing > 0 {
			n += missing
			list = append(list, w)
		}
	}
	for _, l := range page.LeftOut {
		n -= l.Words
	}
	slices.Sort(list)
	return max(n, 0), list
}

// A wordMaker makes words that are in no other place.
type wordMaker struct {
	r     *rand.Rand
	words []string
}

func (m *wordMaker) word() string {
	m.words = append(m.words, fmt.Sprintf("w%05d", len(m.words)))
	return m.words[len(m.words)-1]
}

// fill writes words into the places of a form that have a percent sign and an s.
func (m *wordMaker) fill(form string) string {
	for strings.Contains(form, "%s") {
		form = strings.Replace(form, "%s", m.word(), 1)
	}
	return form
}

// document puts forms together at random.
func (m *wordMaker) document(forms []string) string {
	var b strings.Builder
	for range 3 + m.r.IntN(40) {
		b.WriteString(m.fill(forms[m.r.IntN(len(forms))]))
	}
	return b.String()
}

// wordForms are what a text of each format is made of. Each place is to be read.
var wordForms = map[string][]string{
	"a.md": {
		"# %s\n", "## %s `%s` #\n\n", "### %s\n#### %s\n", "%s\n===\n\n", "%s **%s** _%s_ ~~%s~~\n%s\n\n", "- %s\n  - %s\n    %s\n1. %s\n\n   %s\n\n", "- [x] %s\n",
		"> %s\n> > %s\n\n", "```%s\n# %s\n<!-- %s -->\n```\n", "~~~\n%s\n\n\n```\n%s\n~~~\n", "    %s <%s>\n\n", "| %s | %s |\n|---|---|\n| %s | `%s` |\n| %s |\n\n", "a | b\n-|-\n%s | %s | %s\n | | %s | `%s` |\n\n", "[%s](https://%s.example/%s)\n",
		"![%s](x.png)\n", "<%s>\n", "Vec<%s> and <https://%s.example>\n\n", "[^%s]\n\n[^%s]: %s\n\n    %s\n\n", "%s\n: %s\n\n", "<details>\n<summary>%s</summary>\n\n%s\n\n</details>\n\n", "<table><tr><th>%s<td>%s</table>\n\n",
		"[%s][missing] and \\<%s\\> &amp; %s&nbsp;%s\n\n", "``%s ` %s``\n\n", "- %s\n\n  ```\n  %s\n  ```\n", "%s  \n%s\\\n%s\n\n", "<div>%s <b>%s</b></div>\n\n", "* * *\n%s\n", "~~%s\n", "####### %s\n", "[%s]: %s\n",
	},
	"a.txt": {"# %s\n", "%s %s\n\n", "BREAD %s\n", "```\n%s\n", "   %s\t%s\n", "| %s |\n"},
	"a.html": {
		"<p>%s <b>%s</b> %s ", "<h2>%s</h2>", "<h3><button>%s</button></h3>", "<form><label>%s</label><p>%s</p></form>", "<aside>%s</aside>", "<details><summary>%s</summary>%s</details>", "<div hidden>%s</div>", "<article><header>%s</header>%s</article>",
		"<table><tr><th>%s<th>%s<tr><td rowspan=2>%s<td>%s<tr><td>%s</table>", "<table><tr><td>%s<table><tr><td>%s</table></table>", "<ul><li>%s<ul><li>%s</ul><li><p>%s<p>%s</ul>", "<pre>%s\n  %s</pre>", "<dl><dt id=x>%s<dd>%s</dl>", "<img alt='%s'>",
		"<header>%s</header>", "<footer>%s %s</footer>", "<nav>%s</nav>", "<noscript>%s</noscript>", "<div aria-hidden=true>%s</div>", "<svg><text>%s</text></svg>", "<section>%s</section>", "<blockquote>%s</blockquote>", " 10<sup>%s</sup> ", "<textarea>%s</textarea>", "<template shadowrootmode=open>%s</template>",
		"<div class=note><h4>%s</h4>%s</div>", "<fieldset><legend>%s</legend>%s</fieldset>", "<figure><figcaption>%s</figcaption></figure>", "<custom-tag>%s</custom-tag>", "<ol start=3><li>%s</ol>",
	},
	"a.rst": {
		"%s\n======\n\n", "%s\n------\n\n", "%s ``%s <%s>`` :ref:`%s <x>`\n\n", ".. note:: %s\n\n   %s\n\n", ".. code-block:: x\n\n   %s\n\n", ".. [1] %s\n   %s\n\n", "`%s <https://%s.example>`_\n\n", "* %s\n\n", "+----+\n| %s |\n+====+\n| %s |\n+----+\n\n",
		".. image:: x\n   :alt: %s\n\n", ".. |%s| replace:: x\n\n", "%s::\n\n    %s\n\n", ":%s: %s\n\n",
	},
	"a.adoc": {
		"= %s\n\n", "== %s\n\n", "%s `%s<%s>`\n\n", "----\n%s\n----\n\n", ".%s\n|===\n|%s |%s\n|===\n\n", "* %s\n", "%s footnote:[%s]\n\n", "https://%s.example[%s]\n\n", "NOTE: %s\n\n", "====\n%s\n====\n\n", "include::%s[]\n\n", "<<x,%s>>\n", "%s:: %s\n\n",
	},
}

// TestNoWordVanishes makes texts of each format at random, and wants each of their words in a passage.
func TestNoWordVanishes(t *testing.T) {
	for name, forms := range wordForms {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(300) {
				m := wordMaker{r: rand.New(rand.NewPCG(seed, 1))}
				text := m.document(forms)
				if name == "a.html" {
					text = "<body>" + text
				}
				out, page := readWords(t, &reader.Reader{}, name, []byte(text))
				for _, w := range m.words {
					if out[w] == 0 {
						if n, _ := unexplained(map[string]int{w: 1}, out, page); n > 0 || name != "a.rst" && name != "a.md" && name != "a.html" {
							t.Fatalf("seed %d: %s is in no passage of\n%s\nbut\n%s\nleft out %v", seed, w, text, page.Text, page.LeftOut)
						}
					}
				}
			}
		})
	}
}

// wordsOfHTML counts the words of a page's text.
func wordsOfHTML(data []byte) map[string]int {
	var b strings.Builder
	raw := false
	for z := html.NewTokenizer(bytes.NewReader(data)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return wordsOf(b.String())
		case html.TextToken:
			if !raw {
				b.WriteString(html.UnescapeString(string(z.Raw())))
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			t := z.Token()
			raw = t.Type == html.StartTagToken && (t.Data == "script" || t.Data == "style")
			switch t.Data {
			case "b", "i", "em", "strong", "code", "u", "font", "big", "small", "s", "tt", "span", "a", "wbr", "sub", "var":
			default:
				b.WriteByte(' ')
			}
		}
	}
}

// lettersOf counts the letters of a text.
func lettersOf(text string) map[string]int {
	count := map[string]int{}
	for _, r := range strings.ToLower(norm.NFKD.String(text)) {
		if unicode.IsLetter(r) {
			count[string(r)]++
		}
	}
	return count
}

// TestRealFiles reads the files of a folder that WORDS names, and says which words of them are in no passage
// and left out by no rule. Beside a file that is no text, another of its name and ".text" has its words, as
// another program reads them; of PDF files letters are counted.
func TestRealFiles(t *testing.T) {
	root := os.Getenv("WORDS")
	if root == "" {
		t.Skip("WORDS names no folder of files")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	r := &reader.Reader{PDF: pdf.New(filepath.Join(cache, "parley", "tests"), nil)}
	files, all, missing, left := 0, 0, map[string]int{}, map[string]int{}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !reader.CanRead(name) || strings.HasSuffix(name, ".text") {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		page, err := r.Read(t.Context(), name, data)
		if err != nil {
			t.Logf("%s: %v", name, err)
			return nil
		}
		out, _ := readWords(t, r, name, data)
		files++
		text, err := os.ReadFile(name + ".text")
		in := wordsOf(string(text))
		if page.Kind == "pdf" { // programs find other words in it, of the same letters
			in, out = lettersOf(string(text)), lettersOf(page.Title+page.Text)
			for i := range page.LeftOut {
				page.LeftOut[i].Words *= 6 // letters
			}
		}
		switch {
		case err == nil:
		case page.Kind == "html" && page.Encoding != "utf-8":
			return nil // its bytes are no words
		case page.Kind == "html":
			in = wordsOfHTML(data)
		default:
			in = wordsOf(string(data))
		}
		for _, k := range in {
			all += k
		}
		for _, l := range page.LeftOut {
			left[l.Rule] += l.Words
		}
		if n, list := unexplained(in, out, page); n > 0 {
			missing[name] = n
			t.Logf("%s: %d words missing, left out %v: %.300q", name, n, page.LeftOut, list)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range missing {
		sum += n
	}
	t.Logf("%d files, %d words, %d in no passage without a rule, in %d files; left out %v", files, all, sum, len(missing), left)
}

// TestLeftOutIsBounded wants few rules to be told where a file makes up many.
func TestLeftOutIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 900 {
		fmt.Fprintf(&b, "--B\nContent-Disposition: attachment; filename=f%d.bin\n\nx\n", i)
	}
	page, err := (&reader.Reader{}).Read(t.Context(), "a.eml", []byte("Subject: s\nContent-Type: multipart/mixed; boundary=B\n\n"+b.String()+"--B--\n"))
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	for _, l := range page.LeftOut {
		if l.Rule != "fields of messages" {
			words += l.Words
		}
	}
	if len(page.LeftOut) > 101 || words != 900 {
		t.Errorf("%d rules for %d words, want at most 101 for 900: %v", len(page.LeftOut), words, page.LeftOut)
	}
}
