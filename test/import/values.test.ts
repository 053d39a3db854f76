// Reading values: exact decimals, and what JSON has in other types.
import { describe, expect, test } from 'bun:test';
import { readValue } from '../../cli/import/plan/values.ts';
import type { Field } from '../../db/model/fields.ts';
import { companies } from '../../db/model/resources/companies.ts';
import { deals } from '../../db/model/resources/deals.ts';
import { tasks } from '../../db/model/resources/tasks.ts';

describe('values', () => {
  const dates = { format: null, orders: new Map() };
  const read = (field: Field | undefined, text: string, factor?: string) => {
    if (field === undefined) throw new Error('no such field');
    return readValue(field, text, { header: 'x', dates, numbers: new Map(), factor });
  };

  test('a factor multiplies decimals exactly', () => {
    const { estimated_revenue: revenue, employee_count: employees } = companies.fields;
    expect(read(revenue, '1100.04', '1000000')).toBe(1_100_040_000);
    expect(read(revenue, '4.54', '1000000')).toBe(4_540_000);
    expect(read(revenue, '-.5', '0.1')).toBe(-0.05);
    expect(read(employees, '2.5', '2')).toBe(5);
    expect(read(employees, '2.50', '1e1')).toBe(25);
  });

  test.each(['12a', '0x10', '1e999', '--5'])('%s is no number', (text) => {
    expect(() => read(deals.fields.estimated_value, text)).toThrow('must be a number or null');
  });

  test('in JSON, numbers that may count several things are no instants, and those that count one are', () => {
    const { due_date: due } = tasks.fields;
    if (due === undefined) throw new Error('no such field');
    const context = { header: 'x', dates, numbers: new Map() };
    expect(readValue(due, 1767225600000, context)).toBe(1767225600000);
    expect(() => readValue(due, 1767225600, context)).toThrow('Unix seconds (2026-01-01)');
  });
});
