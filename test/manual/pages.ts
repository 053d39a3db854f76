// A test for each page of a group: that it runs as printed, with the compiled executable.
import { test } from 'bun:test';
import { existsSync } from 'node:fs';
import { type GroupTitle, type TopicName, topicsIn } from '../../cli/manual/topics.ts';
import { BINARY } from '../support/command.ts';
import { type Document, MANUAL, readDocument } from './documents.ts';
import { type Preparation, runPage } from './run-page.ts';

const TEST_MS_MAX = 300_000;
// They begin with nothing.
const FROM_NOTHING: readonly string[] = ['start', 'tour'];
/** Needs a server of PostgreSQL, and has a test of its own. */
export const ON_POSTGRES: TopicName = 'postgres';

/** Tests that the pages of a group run as printed. */
export function testGroup(title: GroupTitle): void {
  for (const { name } of topicsIn(title))
    if (name !== ON_POSTGRES) testPage(pageOf(name), () => ({ hasServer: !FROM_NOTHING.includes(name) }));
}

/** The page of a topic. */
export function pageOf(topic: string): Document {
  return readDocument(`${MANUAL}/${topic}.md`);
}

/** Tests that a page runs as printed where it is prepared like that. */
export function testPage(page: Document, prepare: () => Preparation): void {
  test.skipIf(!existsSync(BINARY))(
    `${page.path} runs as printed (needs dist/crm: bun run build)`,
    () => runPage(page, prepare()),
    TEST_MS_MAX,
  );
}
