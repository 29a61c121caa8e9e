import { z } from 'zod';
import { name, priorsSchema, repeatedNames } from './peers.ts';

/**
 * Routing rules as data. A condition is a table of facts about the study, with a test for each; all
 * tests must pass. `all`, `any` and `not` combine conditions to any depth.
 */

const regularExpression = z.string().refine((text) => {
  try {
    new RegExp(text, 'i');
    return true;
  } catch {
    return false;
  }
}, 'is not a valid regular expression');

const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const bound = z.union([z.string(), z.number()]);

/** A test of the values of one fact. It passes if at least one value passes. */
const testSchema = z.union(
  [
    scalar.transform((equals) => ({ equals })),
    z.strictObject({ equals: scalar }),
    /** Matches anywhere in the value, ignoring case. */
    z.strictObject({ matches: regularExpression }),
    z.strictObject({ in: z.array(scalar).min(1) }),
    /**
     * A range that includes both ends. Numbers, dates (YYYYMMDD) and ages (years) are compared by
     * value.
     */
    z.strictObject({
      range: z
        .strictObject({ from: bound.optional(), to: bound.optional() })
        .refine(({ from, to }) => from !== undefined || to !== undefined, 'needs from, to or both'),
    }),
    z.strictObject({ exists: z.boolean() }),
  ],
  { error: 'a value, or one of equals, matches, in, range, exists (docs/routing.md)' },
);
export type Test = z.infer<typeof testSchema>;

const clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time of day such as 07:30');

/** A keyword of PS3.6, or a tag such as (0018,6031). A dot leads to the items of a sequence. */
const ATTRIBUTE = /^([A-Z][A-Za-z0-9]*|\([0-9A-Fa-f]{4},[0-9A-Fa-f]{4}\))(\.(?!$)|$)/;
const attributePath = z.string().refine((path) => {
  let rest = path;
  for (let found = ATTRIBUTE.exec(rest); found; found = ATTRIBUTE.exec(rest)) {
    rest = rest.slice(found[0].length);
    if (rest === '') return true;
  }
  return false;
}, 'a DICOM keyword such as PatientAge, or a tag such as (0018,6031)');

/** Facts known about every study without opening its objects. */
export const STUDY_FACTS = [
  'source',
  'callingAeTitle',
  'calledAeTitle',
  'modality',
  'studyDescription',
  'procedureCode',
  'sopClass',
] as const;
export type StudyFact = (typeof STUDY_FACTS)[number];

/**
 * Facts determined from the images by the plane and view classifiers. The images are classified
 * only if a condition on one of these facts could change which rules act.
 */
export const CONTENT_FACTS = ['anatomy', 'plane', 'view'] as const;
export type ContentFact = (typeof CONTENT_FACTS)[number];

type Fact = StudyFact | ContentFact;
const factShape = Object.fromEntries(
  [...STUDY_FACTS, ...CONTENT_FACTS].map((fact) => [fact, testSchema.optional()]),
) as Record<Fact, z.ZodOptional<typeof testSchema>>;

export type Condition = Partial<Record<Fact, Test>> & {
  attributes?: Record<string, Test> | undefined;
  /**
   * A range of times by the gateway's clock (HH:MM). If `from` is later than `to`, it extends past
   * midnight.
   */
  timeOfDay?: { from: string; to: string } | undefined;
  all?: Condition[] | undefined;
  any?: Condition[] | undefined;
  not?: Condition | undefined;
};

const conditionSchema: z.ZodType<Condition> = z.lazy(() =>
  z.strictObject({
    ...factShape,
    attributes: z.record(attributePath, testSchema).optional(),
    timeOfDay: z.strictObject({ from: clock, to: clock }).optional(),
    all: z.array(conditionSchema).min(1).optional(),
    any: z.array(conditionSchema).min(1).optional(),
    not: conditionSchema.optional(),
  }),
);

const runSchema = z.strictObject({
  endpoint: z.string(),
  options: z.record(z.string(), z.unknown()).default({}),
  priority: z.enum(['low', 'normal', 'high']).default('normal'),
});

/**
 * A rule has one action, except that running an endpoint or translating can be combined with
 * forwarding. Tags can be added to any action.
 */
const ruleSchema = z
  .strictObject({
    name,
    when: conditionSchema.default({}),
    /** Interprets the study and delivers the results to `deliverTo`. */
    run: runSchema.optional(),
    /** Delivers the values in the machine's structured reports to EHRs, without interpretation. */
    translate: z.boolean().default(false),
    priors: priorsSchema.optional(),
    deliverTo: z.array(name).default([]),
    forwardTo: z.array(name).default([]),
    /** Forwards a de-identified copy of the received objects (PS3.15 Annex E). */
    deidentifyTo: z.array(name).default([]),
    /** Makes the study wait for a person (`npx sonogate studies release`). */
    hold: z.boolean().default(false),
    /** Keeps the study without any further action. */
    ignore: z.boolean().default(false),
    tags: z.array(z.string().min(1).max(40)).default([]),
  })
  .superRefine((rule, context) => {
    const complain = (message: string) => context.addIssue({ code: 'custom', message });
    const onward = [...rule.forwardTo, ...rule.deidentifyTo];
    const acts = rule.run !== undefined || rule.translate || onward.length > 0;
    if (!acts && !rule.hold && !rule.ignore && rule.tags.length === 0) {
      complain(
        'a rule needs an action: run, translate, forwardTo, deidentifyTo, hold, ignore or tags',
      );
    }
    if (rule.ignore && (acts || rule.hold))
      complain('a rule that ignores studies cannot have other actions');
    if (rule.hold && acts) complain('a held study is not interpreted; put run into a later rule');
    if (!rule.run && rule.priors) complain('priors have no effect without run');
    if (rule.run && rule.translate)
      complain("run already includes the machine's values; put translate into another rule");
    if (rule.translate && rule.deliverTo.length === 0)
      complain('translate has no effect without deliverTo');
    if (!rule.run && !rule.translate && rule.deliverTo.length > 0)
      complain('deliverTo has nothing to deliver without run or translate');
  });

export type RoutingRule = z.infer<typeof ruleSchema>;

export const routingSchema = z.strictObject({
  /**
   * `first`: only the first matching rule acts. `all`: every matching rule acts, up to the first
   * that ignores or holds the study.
   */
  match: z.enum(['first', 'all']).default('first'),
  /**
   * The names of rules are unique: a study has one request for each rule, and a person releases a
   * held study to a rule by its name.
   */
  rules: z.array(ruleSchema).superRefine((rules, context) => {
    for (const { index, message } of repeatedNames(rules)) {
      context.addIssue({ code: 'custom', path: [index, 'name'], message });
    }
  }),
});
export type Routing = z.infer<typeof routingSchema>;
