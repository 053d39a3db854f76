// The Markdown files of the repository, and what is to be checked in each: fences, inline code, links, headings.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export const ROOT = join(import.meta.dir, '../..');
export const MANUAL = 'cli/manual';

export interface Fence {
  /** `sh`, `output`, `json`. */
  language: string;
  /** What stands behind that. */
  words: readonly string[];
  text: string;
  /** What stands before each line of one in a list. */
  indent: string;
  /** Of its first line in the file. */
  line: number;
}

export interface Document {
  /** From the top of the repository. */
  path: string;
  text: string;
}

/** A Markdown file of the repository. */
export function readDocument(path: string): Document {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') };
}

/** The pages of the manual, in the order of their names. */
export function manualPages(): Document[] {
  const names = readdirSync(join(ROOT, MANUAL)).filter((name) => name.endsWith('.md'));
  return names.toSorted().map((name) => readDocument(`${MANUAL}/${name}`));
}

/** All Markdown files of the repository: those of the manual, README, and those for who works on it. */
export function allDocuments(): Document[] {
  const paths = ['README.md', 'CHANGELOG.md'].filter((name) => readdirSync(ROOT).includes(name));
  for (const folder of ['cli', 'db', 'server', 'test'])
    for (const entry of readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }))
      if (entry.isFile() && entry.name.endsWith('.md'))
        paths.push(relative(ROOT, join(entry.parentPath, entry.name)));
  return paths
    .filter((path) => !path.startsWith('test/fixtures/'))
    .toSorted()
    .map(readDocument);
}

/** The name of a page's topic. */
export function topicOf({ path }: Document): string {
  return path.slice(path.lastIndexOf('/') + 1, -'.md'.length);
}

const OPENING = /^( *)(`{3,})([\w-]*)(.*)$/;

/** The fences of a document, in order; the indent of one in a list is not a part of its text. */
export function fencesOf({ text }: Document): Fence[] {
  const fences: Fence[] = [];
  let open: (Fence & { marks: string; lines: string[] }) | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    if (open === undefined) {
      const [, indent = '', marks, language = '', words = ''] = OPENING.exec(line) ?? [];
      if (marks === undefined) continue;
      const told = words.split(' ').filter((word) => word !== '');
      open = { ...{ language, words: told, text: '', indent, line: index + 2 }, marks, lines: [] };
    } else if (line.trim() === open.marks) {
      const { language, words, indent, line: first, lines } = open;
      fences.push({ language, words, indent, line: first, text: lines.map((one) => `${one}\n`).join('') });
      open = undefined;
    } else open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line.trimStart());
  }
  if (open !== undefined) throw new Error(`a fence is not closed: line ${open.line - 1}`);
  return fences;
}

/** The pieces of inline code of a document. */
export function inlineCodeOf({ text }: Document): string[] {
  const found: string[] = [];
  Bun.markdown.render(text, {
    code: () => '',
    codespan: (code) => {
      found.push(code.replaceAll('\n', ' '));
      return code;
    },
  });
  return found;
}

/** Where the links and pictures of a document lead. */
export function linksOf({ text }: Document): string[] {
  const found: string[] = [];
  const note = (children: string, target: string) => {
    found.push(target);
    return children;
  };
  Bun.markdown.render(text, {
    link: (children, { href }) => note(children, href),
    image: (children, { src }) => note(children, src),
  });
  return found;
}

/** The anchors of a document's headings, as GitHub makes them. */
export function anchorsOf({ text }: Document): Set<string> {
  const anchors = new Set<string>();
  Bun.markdown.render(text, {
    heading: (title) => {
      const plain = title
        .toLowerCase()
        .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
        .replaceAll(' ', '-');
      let anchor = plain;
      for (let count = 1; anchors.has(anchor); count += 1) anchor = `${plain}-${count}`;
      anchors.add(anchor);
      return title;
    },
  });
  return anchors;
}

/** The links of a document that lead nowhere; addresses of other hosts are not looked at. */
export function brokenLinks(
  document: Document,
  all: ReadonlyMap<string, Document>,
  exists: (path: string) => boolean,
) {
  return linksOf(document).filter((href) => {
    if (/^[a-z]+:/i.test(href)) return false;
    const [target = '', anchor] = href.split('#');
    const path = target === '' ? document.path : join(dirname(document.path), target);
    if (!exists(path)) return true;
    const linked = all.get(path);
    return anchor !== undefined && (linked === undefined || !anchorsOf(linked).has(anchor));
  });
}
