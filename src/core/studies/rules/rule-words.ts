import type { Condition, ContentFact, StudyFact, Test } from '../../../../config/routing.ts';

/** A condition of a rule as a person reads it. */
export interface ConditionWords {
  text: string;
  /** The regular expression that follows the text, if the condition has one. */
  pattern?: string;
  /** The parts of a combined condition. */
  parts?: ConditionWords[];
}

const FACTS = {
  source: 'Source',
  callingAeTitle: 'Calling AE title',
  calledAeTitle: 'Called AE title',
  modality: 'Modality',
  studyDescription: 'Study description',
  procedureCode: 'Procedure code',
  sopClass: 'SOP class',
  anatomy: 'Anatomy on the images',
  plane: 'Plane on the images',
  view: 'View on the images',
} as const satisfies Record<StudyFact | ContentFact, string>;

/** The remaining names of `ConditionVerdict.condition`. */
const OTHERS: Readonly<Record<string, string>> = {
  timeOfDay: 'Time of day',
  'all of': 'All of these',
  'any of': 'At least one of these',
  not: 'Not',
};

const ATTRIBUTE = 'attribute ';

/**
 * Returns the name of what a condition tests, such as "Study description" for `studyDescription` and
 * "Patient age" for `attribute PatientAge`.
 */
export function factText(condition: string): string {
  if (condition.startsWith(ATTRIBUTE)) return attributeWords(condition.slice(ATTRIBUTE.length));
  const words: Readonly<Record<string, string>> = { ...FACTS, ...OTHERS };
  return words[condition] ?? condition;
}

/** Splits the keywords of an attribute path into words. Tags stay as they are. */
function attributeWords(path: string): string {
  const steps = path
    .split('.')
    .map((step) =>
      step
        .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
        .replaceAll(/ [A-Z](?=[a-z])/g, (start) => start.toLowerCase()),
    );
  return steps.join(': ');
}

/** Returns the text that a pattern without special characters looks for; null for other patterns. */
const literal = (pattern: string): string | null =>
  /^[\p{L}\p{N}\s_-]+$/u.test(pattern) ? pattern : null;

/** Describes the values that pass a test, such as "18 to 40". */
export function testText(test: Test): string {
  if ('equals' in test) return test.equals;
  if ('in' in test) return `one of ${test.in.join(', ')}`;
  if ('exists' in test) return test.exists ? 'any value' : 'no value';
  if ('matches' in test) {
    const text = literal(test.matches);
    return text === null ? `text that matches /${test.matches}/i` : `text with “${text}”`;
  }
  const { from, to } = test.range;
  if (to === undefined) return `${from} or more`;
  return from === undefined ? `${to} or less` : `${from} to ${to}`;
}

function tested(condition: string, test: Test): ConditionWords {
  const name = factText(condition);
  if ('exists' in test) return { text: `${name} has ${testText(test)}` };
  if (!('matches' in test)) return { text: `${name} is ${testText(test)}` };
  const text = literal(test.matches);
  return text === null
    ? { text: `${name} matches`, pattern: test.matches }
    : { text: `${name} contains “${text}”` };
}

export function conditionWords(condition: Condition): ConditionWords[] {
  const { attributes = {}, timeOfDay, all, any, not, ...facts } = condition;
  const words = [
    ...Object.entries(facts).flatMap(([fact, test]) => (test ? [tested(fact, test)] : [])),
    ...Object.entries(attributes).map(([path, test]) => tested(`${ATTRIBUTE}${path}`, test)),
  ];
  if (timeOfDay) {
    words.push({ text: `${factText('timeOfDay')} is ${timeOfDay.from} to ${timeOfDay.to}` });
  }
  if (all) words.push({ text: factText('all of'), parts: all.map(together) });
  if (any) words.push({ text: factText('any of'), parts: any.map(together) });
  if (not) words.push({ text: factText('not'), parts: [together(not)] });
  return words;
}

function together(condition: Condition): ConditionWords {
  const words = conditionWords(condition);
  const [only] = words;
  return only && words.length === 1 ? only : { text: factText('all of'), parts: words };
}
