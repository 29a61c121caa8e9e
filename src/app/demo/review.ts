import { readFile } from 'node:fs/promises';
import { diff } from 'node:util';
import type { Bundle, Observation } from '@medplum/fhirtypes';
import type { NaturalDataset } from 'dcmjs';
import type { Change } from '../../../pipelines/contract/review.ts';
import { decodeDataSet, itemsOf } from '../../../pipelines/dicom/data-set.ts';
import { decodeFileMeta } from '../../../pipelines/dicom/part10.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { withUnit } from '../../../pipelines/result/render/unit-text.ts';
import type { ReviewObject } from '../../core/reviews/reviews.ts';
import type { Gateway } from '../main.ts';
import type { DemoStudyName } from './phantom-studies.ts';

const READER = 'Dr Demo Reader';

/**
 * Candidates for the value that the scripted reader changes. The first of them that counts in the
 * result is set to `SHARE` times its value.
 */
const TYPED: Readonly<Record<DemoStudyName, readonly string[]>> = {
  obstetric: ['fl', 'hc'],
  echo: ['tapse', 'lvidd', 'ivc-diameter'],
  'first-trimester': ['crl'],
  unrecognised: [],
};
const SHARE = 0.95;
const DONE: Readonly<Partial<Record<Change['kind'], string>>> = {
  'set-value': 'entered a value:',
  note: 'added a line:',
};
const NOTE = 'Checked by the scripted reader of the demo.';

/**
 * Returns the changes of the scripted reader: an entered value, and a line at the end of the
 * impression.
 */
function script(name: DemoStudyName, { measurements }: Result): Change[] {
  const counting = measurements.filter(({ standing }) => standing === 'counts');
  const one = TYPED[name]
    .flatMap((key) => counting.find(({ concept }) => concept.key === key) ?? [])
    .at(0);
  const typed = one && {
    kind: 'set-value' as const,
    measurement: one.id,
    value: Math.round(one.value * SHARE * 10) / 10,
  };
  return [...(typed ? [typed] : []), { kind: 'note', text: NOTE }];
}

/** The documents of a study before and after it was reviewed and signed. */
interface Reviewed {
  steps: string[];
  sr: { before: string[]; after: string[] };
  bundle: { before: string[]; after: string[] };
}

/** Reviews and signs a result by script, through the same HTTP API as a viewer. */
export async function reviewScripted(
  gateway: Gateway,
  requestId: string,
  name: DemoStudyName,
): Promise<Reviewed> {
  const { key } = await gateway.run('keys.create', {
    name: READER,
    scopes: ['read', 'review', 'sign'],
  });
  const call = async (path: string, method: string, etag: string, body?: object) => {
    const answer = await fetch(`${gateway.http?.url}/v1/requests/${requestId}/${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        ...(etag && { 'If-Match': etag }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return (await answer.json()) as ReviewObject;
  };
  const draft = await call('review', 'GET', '');
  const changes = script(name, draft.result);
  const changed = await call('review', 'PATCH', draft.etag, { changes });
  const signed = await call('sign', 'POST', changed.etag, { statement: 'Scripted by the demo.' });
  const file = async (artifact: string) => {
    const path = await gateway.core.artifactPath(requestId, artifact);
    if (path === null) throw new Error(`the request has no ${artifact}`);
    return readFile(path);
  };
  const bundle = async (artifact: string) =>
    bundleLines(JSON.parse((await file(artifact)).toString('utf8')) as Bundle);
  const revision = signed.signed_revision;
  return {
    steps: [
      ...signed.changes.map(({ author, kind, change, before, after }) => {
        const name = 'measurement' in change ? signed.original[change.measurement]?.label : null;
        const values = [before.value, after.value].filter((value) => value !== null);
        const shown = values.map((value) => value.toFixed(1)).join(' → ');
        const what = after.text ?? [name, shown, after.unit].filter(Boolean).join(' ');
        return `${author}: ${DONE[kind] ?? kind} ${what}`;
      }),
      `${READER}: signed, revision ${revision}`,
    ],
    sr: {
      before: srLines(await file('sr-tid1500.dcm')),
      after: srLines(await file(`sr-tid1500-signed-${revision}.dcm`)),
    },
    bundle: {
      before: await bundle('fhir-bundle.json'),
      after: await bundle(`fhir-bundle-signed-${revision}.json`),
    },
  };
}

const meaning = (sequence: unknown): string => String(itemsOf(sequence)[0]?.CodeMeaning ?? '');

/**
 * Returns a structured report as lines: who verified it, its numbers and its texts, without
 * references.
 */
function srLines(file: Buffer): string[] {
  const { meta, dataSetOffset } = decodeFileMeta(file);
  const document = decodeDataSet(file.subarray(dataSetOffset), meta.transferSyntax);
  const observers = itemsOf(document.VerifyingObserverSequence);
  const head = [
    `Verification Flag: ${document.VerificationFlag}`,
    `Preliminary Flag: ${document.PreliminaryFlag}`,
    `Completion: ${document.CompletionFlagDescription ?? ''}`,
    ...observers.map(
      (one) => `Verifying Observer: ${String(one.VerifyingObserverName).replace(/\^+$/, '')}`,
    ),
    `Predecessor documents: ${itemsOf(document.PredecessorDocumentsSequence).length}`,
  ];
  return [...head, ...itemsOf(document.ContentSequence).flatMap((item) => contentLines(item))];
}

/**
 * Formats a number from a report with four significant digits. The report itself has all digits.
 */
export const numberText = (value: number, unit: string): string =>
  withUnit(`${Number(value.toPrecision(4))}`, unit);

function contentLines(item: NaturalDataset): string[] {
  const name = meaning(item.ConceptNameCodeSequence);
  const inner = itemsOf(item.ContentSequence).flatMap((one) => contentLines(one));
  switch (item.ValueType) {
    case 'NUM': {
      const [value] = itemsOf(item.MeasuredValueSequence);
      const unit = value ? itemsOf(value.MeasurementUnitsCodeSequence)[0]?.CodeValue : '';
      const shown = value ? numberText(Number(value.NumericValue), String(unit ?? '')) : 'no value';
      return [`${name} = ${shown}`, ...inner];
    }
    case 'TEXT':
      // The names of the models are omitted here, because the report repeats them with each number.
      return name.startsWith('Algorithm') ? inner : [`${name}: ${item.TextValue}`, ...inner];
    case 'CODE':
      return [`${name}: ${meaning(item.ConceptCodeSequence)}`, ...inner];
    default:
      return inner;
  }
}

const SENTENCE_END = /(?<=[.;]) |\n/;

/**
 * Formats an Observation without its method and performer. Signing adds these to every value, so
 * every line would differ.
 */
const observationLine = ({ code, valueQuantity: of }: Observation): string[] =>
  of?.value === undefined ? [] : [`${code.text ?? ''} = ${of.value} ${of.unit ?? ''}`];

/**
 * Returns a bundle as lines: the report with its conclusion, the number of observations with each
 * status, and each value.
 */
export function bundleLines({ entry = [] }: Bundle): string[] {
  const resources = entry.flatMap(({ resource }) => resource ?? []);
  const observations = resources.filter((one) => one.resourceType === 'Observation');
  const statuses = Map.groupBy(observations, ({ status }) => status);
  const reports = resources.flatMap((one) => {
    if (one.resourceType !== 'DiagnosticReport') return [];
    const { status, conclusion = '', resultsInterpreter = [] } = one;
    return [
      `DiagnosticReport: ${status}`,
      ...resultsInterpreter.map(({ display }) => `Results interpreter: ${display}`),
      ...conclusion.split(SENTENCE_END).map((line) => `Conclusion: ${line}`),
    ];
  });
  return [
    ...reports,
    ...[...statuses].map(([status, own]) => `Observations: ${own.length} ${status}`),
    ...observations.flatMap(observationLine),
  ];
}

/** Returns the name in a line such as "HC = 287.4 mm" or "Preliminary Flag: FINAL". */
const nameIn = (line: string) => /^(.*?)(?: = |: )/.exec(line)?.[1] ?? '';

/** Returns the rows of two columns, with lines of the same name next to each other. */
function aligned(left: readonly string[], right: readonly string[]): [string, string][] {
  const rows: [string, string][] = [];
  let next = 0;
  for (const line of left) {
    const at = right.findIndex((other, i) => i >= next && nameIn(other) === nameIn(line));
    for (const other of right.slice(next, Math.max(at, next))) rows.push(['', other]);
    rows.push([line, right[at] ?? '']);
    next = Math.max(at + 1, next);
  }
  return [...rows, ...right.slice(next).map((other): [string, string] => ['', other])];
}

/** Returns the lines that differ: before on the left, after on the right. */
export function sideBySide(
  before: readonly string[],
  after: readonly string[],
  width = 100,
): string[] {
  const column = Math.floor((width - 3) / 2);
  const rows: [string, string][] = [];
  let [left, right]: [string[], string[]] = [[], []];
  const flush = () => {
    rows.push(...aligned(left, right));
    [left, right] = [[], []];
  };
  for (const [change, line] of diff([...after], [...before])) {
    if (change === 0) flush();
    else (change === 1 ? right : left).push(line);
  }
  flush();
  return rows.flatMap(([one, other]) => {
    const [ofOne, ofOther] = [wrapped(one, column), wrapped(other, column)];
    return Array.from({ length: Math.max(ofOne.length, ofOther.length) }, (_, at) =>
      `${(ofOne[at] ?? '').padEnd(column)} │ ${ofOther[at] ?? ''}`.trimEnd(),
    );
  });
}

/** Wraps a text into lines of at most `width` characters; later lines are indented. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = `  ${word}`;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
