// The editor of Python code: CodeMirror in a shadow root, where its styles pass the page's Content-Security-Policy.
// src/shell/code_editor.rs calls it. Colours come from the page's custom properties.
import {python} from '@codemirror/lang-python';
import {HighlightStyle, indentUnit, syntaxHighlighting} from '@codemirror/language';
import {lintGutter, setDiagnostics} from '@codemirror/lint';
import {EditorView} from '@codemirror/view';
import {tags} from '@lezer/highlight';
import {basicSetup} from 'codemirror';

const theme = EditorView.theme({
  '&': {height: '100%', backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '0.8125rem'},
  '&.cm-focused': {outline: '2px solid var(--accent)', outlineOffset: '-2px'},
  '.cm-scroller': {fontFamily: 'var(--mono)', lineHeight: '1.5'},
  '.cm-gutters': {backgroundColor: 'var(--surface)', color: 'var(--soft)', borderRight: '1px solid var(--line)'},
  '.cm-activeLine, .cm-activeLineGutter': {backgroundColor: 'color-mix(in srgb, var(--accent) 7%, transparent)'},
  '.cm-cursor': {borderLeftColor: 'var(--text)'},
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 25%, transparent) !important',
  },
  '.cm-tooltip, .cm-panels': {backgroundColor: 'var(--surface)', color: 'var(--text)', border: '1px solid var(--line)'},
});

const highlighting = HighlightStyle.define([
  {tag: tags.keyword, color: 'light-dark(#8250b5, #c8a5f5)'},
  {tag: [tags.string, tags.special(tags.string)], color: 'light-dark(#1b6b3a, #8fd6a5)'},
  {tag: tags.comment, color: 'var(--soft)', fontStyle: 'italic'},
  {tag: [tags.number, tags.bool, tags.null], color: 'light-dark(#a0440d, #f0b285)'},
  {tag: [tags.definition(tags.variableName), tags.definition(tags.function(tags.variableName)), tags.className],
    color: 'light-dark(#0b5cad, #8ec5ff)'},
  {tag: tags.meta, color: 'light-dark(#6b5b00, #d9c66b)'},
]);

/** Puts an editor into an element. `changed` is called after each change of its text. */
export function open(host, text, label, changed) {
  const root = host.shadowRoot ?? host.attachShadow({mode: 'open'});
  root.replaceChildren();
  const view = new EditorView({
    doc: text,
    parent: root,
    root,
    extensions: [
      basicSetup,
      python(),
      indentUnit.of('    '),
      lintGutter(),
      theme,
      syntaxHighlighting(highlighting),
      // Tab leaves the editor, as everywhere on the page; Enter indents.
      // The tab index says to assistive technology what browsers do anyway: the text takes the focus and scrolls.
      EditorView.contentAttributes.of({'aria-label': label, spellcheck: 'false', tabindex: '0'}),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) changed();
      }),
    ],
  });
  return {
    text: () => view.state.doc.toString(),
    set(text) {
      view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: text}});
    },
    /** Marks a line, from 1, with what is wrong with it; no line marks none. */
    mark(line, message) {
      const diagnostics = [];
      if (line > 0) {
        const {from, to} = view.state.doc.line(Math.min(line, view.state.doc.lines));
        diagnostics.push({from, to, severity: 'error', message});
        view.dispatch({effects: EditorView.scrollIntoView(from, {y: 'nearest'})});
      }
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    focus: () => view.focus(),
    end: () => view.destroy(),
  };
}
