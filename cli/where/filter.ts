// The filter of a query from the text of --where: types each condition by its field, within the limits of filters.
import type { Data } from '../../db/model/json.ts';
import {
  findQueryField,
  LIST_OPERATORS,
  OPERATORS,
  type Operator,
  type QueryField,
  queryFieldNames,
} from '../../db/model/query/fields.ts';
import { FILTER_CONDITIONS_MAX, FILTER_LEVELS_MAX, FILTER_VALUES_MAX } from '../../db/model/query/filter.ts';
import type { Resource } from '../../db/model/resource.ts';
import { didYouMean } from '../nearest.ts';
import { dayOfWord } from '../settings/since.ts';
import { fieldOfName, namesInConditions, nameToFind } from './names.ts';
import { type Refuse, refusalsOf } from './refusal.ts';
import {
  type Expression,
  expressionOf,
  WRITTEN_OPERATORS,
  type Written,
  type WrittenCondition,
  wordsFor,
} from './syntax.ts';
import { comparedTimes, comparedValue, isDay } from './values.ts';

/**
 * The filter that a text means for a resource, with names and short IDs in it that `foundFilter` replaces; a usage error
 * shows where the text is wrong.
 */
export function filterOfWhere(resource: Resource, text: string): Data {
  const refuse = refusalsOf(text);
  return new FilterWriter(resource, refuse).filterOf(expressionOf(text, refuse), 0);
}

// `in` of lists and links is an operator of its own.
const MEANINGS: Readonly<Record<Written, readonly Operator[]>> = {
  ...{ '=': ['eq'], '!=': ['ne'], '<': ['lt'], '<=': ['lte'], '>': ['gt'], '>=': ['gte'] },
  ...{ contains: ['contains'], starts_with: ['starts_with'], has: ['has'], between: ['between'] },
  ...{ in: ['in', 'any_of'], is: ['is_null'] },
};

class FilterWriter {
  readonly #resource: Resource;
  readonly #refuse: Refuse;
  #conditions = 0;

  constructor(resource: Resource, refuse: Refuse) {
    this.#resource = resource;
    this.#refuse = refuse;
  }

  /** The filter of an expression that stands below so many levels of `and`, `or` and `not`. */
  filterOf(expression: Expression, level: number): Data {
    if (expression.kind === 'condition') return this.#conditionOf(expression, level);
    const { kind, at } = expression;
    if (level === FILTER_LEVELS_MAX)
      throw this.#refuse(
        at,
        `expected at most ${FILTER_LEVELS_MAX} levels of "and", "or" and "not" within each other.`,
      );
    if (kind === 'not') return { not: this.filterOf(expression.part, level + 1) };
    return { [kind]: partsOf(expression, kind).map((part) => this.filterOf(part, level + 1)) };
  }

  #conditionOf(written: WrittenCondition, level: number): Data {
    const kind = namesInConditions(this.#resource).get(written.field);
    const name = kind === undefined ? written.field : fieldOfName(kind, this.#resource);
    const field = this.#fieldOf({ ...written, field: name });
    const operator = this.#operatorOf(written, field);
    const isTime = field.family === 'instant' || field.family === 'date';
    const reworded = inOtherWords(isTime ? withDays(written) : written, field, operator);
    if (reworded !== undefined) return this.filterOf(reworded, level);
    const condition = { ...(isTime ? withDays(written) : written), field: name };
    const { values, isNegated } = condition;
    const excess = values[FILTER_VALUES_MAX];
    if (excess !== undefined)
      throw this.#refuse(excess.at, `expected at most ${FILTER_VALUES_MAX} values in a list.`);
    if (operator === 'is_null') return this.#meets(condition, { is_null: !isNegated });
    const meaning = isNegated ? 'not_in' : operator;
    if (field.family === 'instant')
      return this.#meets(condition, comparedTimes(field, meaning, values, this.#refuse));
    const all = values.map((value) =>
      kind === undefined || value.isAhead
        ? comparedValue(field, meaning, value, this.#refuse)
        : nameToFind(kind, value.text),
    );
    return this.#meets(condition, { [meaning]: LIST_OPERATORS.has(meaning) ? all : (all[0] ?? null) });
  }

  #fieldOf({ field: name, at }: WrittenCondition): QueryField {
    const field = findQueryField(this.#resource, name);
    if (field !== undefined) return field;
    const names = [...queryFieldNames(this.#resource), ...namesInConditions(this.#resource).keys()];
    throw this.#refuse(
      at,
      `expected a field of ${this.#resource.name} that can be filtered by.${didYouMean(name, names)}`,
      `use one of: ${names.join(', ')}.`,
    );
  }

  #operatorOf(
    { operator: written, operatorAt, field: name }: WrittenCondition,
    { family }: QueryField,
  ): Operator {
    const allowed: readonly Operator[] = OPERATORS[family];
    const operator = MEANINGS[written].find((one) => allowed.includes(one));
    if (operator !== undefined) return operator;
    const others = WRITTEN_OPERATORS.filter((one) =>
      MEANINGS[one].some((meaning) => allowed.includes(meaning)),
    );
    throw this.#refuse(
      operatorAt,
      `expected an operator that ${name} takes.`,
      `use one of: ${wordsFor(others)}.`,
    );
  }

  #meets({ field, at }: WrittenCondition, operators: Data): Data {
    this.#conditions += Object.keys(operators).length;
    if (this.#conditions <= FILTER_CONDITIONS_MAX) return { [field]: operators };
    const message = `expected at most ${FILTER_CONDITIONS_MAX} conditions.`;
    throw this.#refuse(at, message, 'for one of several values of a field, use in (…).');
  }
}

/** The condition with the days that `yesterday`, `today` and `tomorrow` mean. */
function withDays(condition: WrittenCondition): WrittenCondition {
  const now = Date.now();
  const values = condition.values.map((value) => {
    const day = value.isQuoted || value.isAhead ? undefined : dayOfWord(value.text, now);
    return day === undefined ? value : { ...value, text: day };
  });
  return { ...condition, values };
}

/** What `and` or `or` joins, whatever parentheses are around some of it. */
function partsOf(expression: Expression, kind: 'and' | 'or'): Expression[] {
  return expression.kind === kind ? expression.parts.flatMap((part) => partsOf(part, kind)) : [expression];
}

/** A condition in words that filters have: a day is a range of instants, and most operators have no opposite. */
function inOtherWords(
  condition: WrittenCondition,
  field: QueryField,
  operator: Operator,
): Expression | undefined {
  const { values, at, isNegated } = condition;
  const hasDays = field.family === 'instant' && values.some(isDay);
  const not = (change: Partial<WrittenCondition>): Expression => ({
    kind: 'not',
    part: { ...condition, ...change },
    at,
  });
  if (operator === 'ne' && hasDays) return not({ operator: '=' });
  if (isNegated && operator !== 'is_null' && (operator !== 'in' || hasDays)) return not({ isNegated: false });
  if (operator !== 'in' || !hasDays) return undefined;
  return { kind: 'or', parts: values.map((value) => ({ ...condition, operator: '=', values: [value] })), at };
}
