import { z } from 'zod';

/**
 * A statement is a conclusion of a section as data: a code, and the measurements that it refers to.
 * Only `render/` makes sentences from statements, after all sections have run. No code reads a
 * sentence.
 */

const STATEMENT_KINDS = ['value', 'conclusion', 'gap', 'advice', 'limitation'] as const;
type StatementKind = (typeof STATEMENT_KINDS)[number];

/** A code, a number, a concept key, or a name or grade in its published wording. */
export type Param =
  | string
  | number
  | boolean
  | null
  | readonly Param[]
  | { readonly [name: string]: Param };

export type Params = { readonly [name: string]: Param };

/** One statement of a section. `code` is a key of the sentence tables. */
export interface Statement {
  readonly kind: StatementKind;
  readonly code: string;
  /** Ids of the measurements whose numbers the sentence prints or is based on. */
  readonly about: readonly string[];
  readonly fetus: string | null;
  readonly params: Params;
}

/**
 * Something that the reader of a measurement should know, for example that a formula is of grade R
 * or that inputs were missing.
 */
export interface Remark {
  readonly code: string;
  readonly params: Params;
}

/** Value of `fetus` in a statement about one of several fetuses if no image states which one. */
export const UNNAMED_FETUS = 'unnamed';

/**
 * Parameters may be nested to any depth. The JSON Schema does not describe the nesting, because
 * OpenAPI does not accept recursive definitions.
 */
const paramsSchema: z.ZodType<Params> = z.record(z.string(), z.any());

export const statementSchema: z.ZodType<Statement> = z
  .strictObject({
    kind: z
      .enum(STATEMENT_KINDS)
      .meta({ description: 'Kind of statement', examples: [STATEMENT_KINDS[0]] }),
    code: z
      .string()
      .meta({ description: 'Code of the statement', examples: ['growth.appropriate'] }),
    about: z
      .array(z.string())
      .meta({ description: 'Ids of the measurements that it is about', examples: [['efw-1']] }),
    fetus: z
      .string()
      .nullable()
      .meta({
        description: 'Name of the fetus if there are several; otherwise null',
        examples: [null],
      }),
    params: paramsSchema.meta({
      description: 'Parameters that its sentence prints',
      examples: [{}],
    }),
  })
  .meta({ id: 'Statement', description: 'One statement of the result, as data' });

export const remarkSchema: z.ZodType<Remark> = z
  .strictObject({
    code: z.string().meta({ description: 'Code of the remark', examples: ['reduced'] }),
    params: paramsSchema.meta({ description: 'Parameters that its text prints', examples: [{}] }),
  })
  .meta({ id: 'Remark', description: 'A remark that must be read with a value, as data' });

/**
 * Renders one statement as text; `context` contains the measurements that the statement refers to
 * (render/).
 */
type Sentence = (params: never, context: never) => string;

/** The sentences of one topic in one language, by code. */
export type SentenceTable = Readonly<Record<string, Sentence>>;

/** Parameters printed by the sentence for a code; `{}` if it prints none. */
type ParamsOf<Table, Code extends keyof Table> = Table[Code] extends (
  ...parameters: infer Given
) => string
  ? Given extends [infer First, ...unknown[]]
    ? First
    : Record<string, never>
  : never;

/**
 * A statement with a given code of a sentence table. The code determines the type of the
 * statement's parameters.
 */
export type StatementOf<Table extends SentenceTable, Code extends keyof Table> = Statement & {
  readonly code: Code;
  readonly params: ParamsOf<Table, Code>;
};

type About = readonly (string | { readonly id: string })[];

const idsOf = (about: About) => about.map((one) => (typeof one === 'string' ? one : one.id));

/**
 * Returns typed functions that create the statements of one topic:
 * `say.gap('biometry.plane-missing', { structure })`. The code must be in the table, and the
 * parameters must match its sentence.
 */
export function statementsOf<Table extends SentenceTable>() {
  const maker =
    (kind: StatementKind) =>
    <Code extends keyof Table & string>(
      code: Code,
      params: ParamsOf<Table, Code> & Params,
      about: About = [],
      fetus: string | null = null,
    ): Statement => ({ kind, code, about: idsOf(about), fetus, params });
  return {
    value: maker('value'),
    conclusion: maker('conclusion'),
    gap: maker('gap'),
    advice: maker('advice'),
    limitation: maker('limitation'),
  };
}

/** Returns a typed function that creates the remarks of one topic. */
export function remarksOf<Table extends SentenceTable>() {
  return <Code extends keyof Table & string>(
    code: Code,
    params: ParamsOf<Table, Code> & Params,
  ): Remark => ({ code, params });
}

export function distinctRemarks(remarks: readonly Remark[]): Remark[] {
  return [...new Map(remarks.map((one) => [JSON.stringify(one), one])).values()];
}

export function distinctStatements<One extends Statement>(statements: readonly One[]): One[] {
  const byContent = new Map(statements.map((one) => [JSON.stringify(one), one]));
  return [...byContent.values()];
}

/** A category as data, with the scale in whose words it is rendered (render/echo/categories.ts). */
export interface Category {
  readonly scale: string;
  readonly category: Param;
}

/** The scales of one topic: each renders its categories. */
export type ScaleTable = Readonly<Record<string, (category: never) => string>>;

/** Returns a typed function that creates the categories of one topic: `categoryOf('geometry', 'normal')`. */
export const categoriesOf =
  <Table extends ScaleTable>() =>
  <Scale extends keyof Table & string>(
    scale: Scale,
    category: Param & Parameters<Table[Scale]>[0],
  ): Category => ({ scale, category });
