// Tells people which names in a file do not exist, and what creates them.
import { clip } from '../../../db/model/text.ts';
import { counted, formatCount } from '../../terminal/format.ts';
import { neutralizeLine } from '../../terminal/text.ts';
import type { ImportFlags } from '../flags.ts';
import type { MissingKind, MissingNames } from './missing-names.ts';

type Creation = Pick<ImportFlags, 'createMissing' | 'createStages'>;

const PLURALS = { company: 'companies', pipeline: 'pipelines', stage: 'stages' } as const;
const NAMES_TOLD_MAX = 5;

/** The flag that creates names of a kind; undefined if none does. */
export function creatingFlag(kind: MissingKind): keyof Creation | undefined {
  return { company: 'createMissing' as const, stage: 'createStages' as const, pipeline: undefined }[kind];
}

/** The kinds of names that reject their rows if they do not exist. */
export function refusedKinds(flags: Creation): MissingKind[] {
  return (['pipeline', 'stage', 'company'] as const).filter((kind) => {
    const flag = creatingFlag(kind);
    return flag === undefined || !flags[flag];
  });
}

/** A message before the rows are sent. */
export function missingMessage(missing: MissingNames): string {
  const { names, hasMore, pipeline } = missing;
  const isOne = names.length === 1 && !hasMore;
  const place = pipeline === null ? '' : ` in the pipeline "${neutralizeLine(pipeline)}"`;
  const way = {
    company: `--create-missing creates ${isOne ? 'it' : 'them'}`,
    stage: `--create-stages creates ${isOne ? 'it' : 'them'}`,
    pipeline: `--map-value replaces a value`,
  }[missing.kind];
  return `${countOf(missing)} ${isOne ? 'does' : 'do'} not exist${place}: ${listOf(missing)}. Rows with ${isOne ? 'it' : 'them'} are rejected; ${way}.`;
}

/** A line for the screen, with the key that creates the names, if there is one. */
export function missingLine(missing: MissingNames, flags: Creation, key: string | undefined): string {
  const flag = creatingFlag(missing.kind);
  const isCreated = flag !== undefined && flags[flag];
  const isOne = missing.names.length === 1 && !missing.hasMore;
  const what = isCreated ? 'will be created' : isOne ? 'does not exist' : 'do not exist';
  const way = isCreated || key === undefined ? '' : ` (${key} creates ${isOne ? 'it' : 'them'})`;
  return `${countOf(missing)} ${what}${way}: ${listOf(missing)}`;
}

function countOf({ kind, names, hasMore }: MissingNames): string {
  const count = names.length;
  if (hasMore) return `${formatCount(count)} or more ${PLURALS[kind]}`;
  return counted(count, kind, PLURALS[kind]);
}

function listOf({ names, hasMore }: MissingNames): string {
  const told = names
    .slice(0, NAMES_TOLD_MAX)
    .map(
      ({ text, rows }) =>
        `"${clip(neutralizeLine(text))}" (${rows === null ? 'every row' : counted(rows, 'row')})`,
    );
  const more = names.length - told.length;
  if (more === 0) return told.join(', ') + (hasMore ? ', …' : '');
  return `${told.join(', ')}, and ${formatCount(more)}${hasMore ? ' or more' : ' more'}`;
}
