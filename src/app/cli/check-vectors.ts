import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type {
  CheckFormula,
  CheckValue,
  VectorInputs,
} from '../../../pipelines/contract/vector-inputs.ts';
import { ECHO_CHECKS } from '../../../pipelines/echo/check-formulas.ts';
import { OBSTETRIC_CHECKS } from '../../../pipelines/obstetric/check-formulas.ts';
import { pointedErrors } from '../../platform/errors/problem.ts';
import { type AnswerForm, answer } from './answer.ts';
import { EXIT, type ExitStatus, UsageError } from './exit-status.ts';

const scalar = z.union([z.number(), z.string(), z.boolean(), z.null()]);

const vectorsSchema = z.array(
  z.looseObject({
    id: z.string(),
    formula: z.string(),
    inputs: z.record(z.string(), z.unknown()),
    expected: z.union([scalar, z.array(z.union([z.number(), z.string()]))]),
    tolerance: z.union([z.number(), z.literal('exact')]),
  }),
);

type Vector = z.infer<typeof vectorsSchema>[number];

const FORMULAS: Readonly<Record<string, CheckFormula>> = { ...OBSTETRIC_CHECKS, ...ECHO_CHECKS };

/**
 * Returns a function through which a formula reads the inputs of a vector. It adds the name of each
 * input that is read to `asked`, so that inputs that the formula ignores can be found.
 */
function inputsOf(inputs: Vector['inputs'], asked: Set<string>): VectorInputs {
  const given = (name: string): unknown => {
    asked.add(name);
    return inputs[name];
  };
  const optional = <Type>(name: string, type: string): Type | null => {
    const value = given(name);
    if (value === undefined || value === null) return null;
    if (typeof value !== type) throw new Error(`input ${name} is not a ${type}`);
    return value as Type;
  };
  const required = <Type>(name: string, type: string): Type => {
    const value = optional<Type>(name, type);
    if (value === null) throw new Error(`input ${name} is missing`);
    return value;
  };
  return {
    number: (name) => required<number>(name, 'number'),
    text: (name) => required<string>(name, 'string'),
    optionalNumber: (name) => optional<number>(name, 'number'),
    optionalText: (name) => optional<string>(name, 'string'),
    optionalFlag: (name) => optional<boolean>(name, 'boolean'),
    isText: (name) => typeof given(name) === 'string',
    numbers: (name) => z.array(z.number()).parse(given(name)),
    texts: (name) => z.array(z.string()).parse(given(name)),
  };
}

function agrees(found: CheckValue, { expected, tolerance }: Vector): boolean {
  if (typeof found === 'number' && typeof expected === 'number') {
    return Math.abs(found - expected) <= (tolerance === 'exact' ? 0 : tolerance);
  }
  return isDeepStrictEqual(found, expected);
}

/**
 * Describes what is wrong with a test vector or its formula; null if the formula returns the
 * expected value.
 */
function fault(vector: Vector): string | null {
  const formula = Object.hasOwn(FORMULAS, vector.formula) ? FORMULAS[vector.formula] : undefined;
  if (!formula) return `unknown formula "${vector.formula}"`;
  try {
    const asked = new Set<string>();
    const found = formula(inputsOf(vector.inputs, asked));
    const ignored = Object.keys(vector.inputs).filter((name) => !asked.has(name));
    // A formula that ignores an input computes something other than what the vector describes.
    if (ignored.length > 0) return `${vector.formula} does not use input ${ignored.join(', ')}`;
    return agrees(found, vector)
      ? null
      : `${vector.formula} returned ${found}, expected ${vector.expected} ± ${vector.tolerance}`;
  } catch (error) {
    return `${vector.formula}: ${(error as Error).message}`;
  }
}

function vectorsIn(text: string, path: string): readonly Vector[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`${path} is not JSON`, { cause });
  }
  const parsed = vectorsSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [first] = pointedErrors(parsed.error);
  throw new UsageError(
    `${path} is not a list of test vectors: ${first?.pointer || '/'}: ${first?.detail}`,
  );
}

/**
 * Runs the test vectors in a `*-checks.json` against the project's own formulas. An unknown
 * formula, or an input that the formula does not have, is a failure.
 * @throws UsageError if the file is not a list of vectors.
 */
export async function checkVectors(
  path: string,
): Promise<{ passed: number; failed: number; lines: string[] }> {
  const vectors = vectorsIn(await readFile(path, 'utf8'), path);
  const lines = vectors.flatMap((vector) => {
    const wrong = fault(vector);
    return wrong === null ? [] : [`${vector.id}: ${wrong}`];
  });
  return { passed: vectors.length - lines.length, failed: lines.length, lines };
}

/**
 * Runs `npx sonogate check-vectors`: prints each failure, then the counts.
 * @returns the exit status.
 */
export async function checkVectorsCommand(path: string, form: AnswerForm): Promise<ExitStatus> {
  const checked = await checkVectors(path);
  const { passed, failed, lines } = checked;
  answer(form, checked, [...lines, `${passed} passed, ${failed} failed`]);
  return failed === 0 ? EXIT.success : EXIT.failed;
}
