import { readFile } from 'node:fs/promises';
import { data } from 'dcmjs';
import { z } from 'zod';
import { referencesIn } from '../../../fhir/deliver/post-report.ts';
import { AI_ASSERTED } from '../../../fhir/resources/codes.ts';
import { checkSegmentation } from '../../../pipelines/artifacts/seg/check.ts';
import { SEGMENTATION_CLASSES } from '../../../pipelines/artifacts/seg/segmentation.ts';
import { decode } from '../../../pipelines/artifacts/sr/decode.ts';
import { checkTemplate } from '../../../pipelines/artifacts/sr/template-check.ts';
import { TEST_DATA } from '../test-data-label.ts';
import { type AnswerForm, answer } from './answer.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';

const entrySchema = z.looseObject({
  fullUrl: z.string().optional(),
  resource: z.looseObject({ resourceType: z.string() }),
  request: z
    .looseObject({ method: z.string(), url: z.string(), ifNoneExist: z.string().optional() })
    .optional(),
});

const bundleSchema = z.looseObject({
  resourceType: z.literal('Bundle'),
  type: z.string(),
  entry: z.array(entrySchema).default([]),
});

const metaSchema = z.looseObject({ security: z.array(z.looseObject({ code: z.string() })) });

const personsSchema = z.array(z.looseObject({ type: z.literal('Practitioner') })).nonempty();

/** Tags of statements made by our software, and of test data. */
const ASSERTED: ReadonlySet<string | undefined> = new Set([AI_ASSERTED.code, TEST_DATA.code]);

type Entry = z.infer<typeof entrySchema>;

/**
 * Returns what is wrong with a write that lacks a condition; null for a write that has one or needs
 * none. A repeated transaction must not create a resource twice (exchange 1.1).
 */
function unconditional({ resource, request }: Entry): string | null {
  if (!request) return 'has no request';
  const { method, url, ifNoneExist } = request;
  const named = url.includes('?') || url.includes('/');
  if (method === 'PUT' && named) return null;
  if (method === 'POST' && ifNoneExist) return null;
  const once = resource.resourceType === 'Provenance' || resource.resourceType === 'Binary';
  return once ? null : `${method} ${url} has no condition`;
}

function observationFault({ resource }: Entry): string | null {
  if (resource.resourceType !== 'Observation') return null;
  const quantity = resource.valueQuantity;
  const isUcum =
    typeof quantity !== 'object' ||
    quantity === null ||
    ('system' in quantity && quantity.system === 'http://unitsofmeasure.org');
  if (!isUcum) return 'the unit is not UCUM';
  const hasValue = Object.keys(resource).some((key) => key.startsWith('value'));
  return hasValue && resource.dataAbsentReason
    ? 'has both a value and a reason for its absence'
    : null;
}

const DRAFT_STATUSES = ['preliminary', 'partial', 'entered-in-error', 'registered'];
const SIGNED_STATUSES = ['final', 'amended', 'entered-in-error'];

/**
 * Returns what is wrong with the status of a resource; null if nothing is. The status must be one
 * of a signed result if the resource has a signer, otherwise one of a draft.
 */
function statusFault({ resource }: Entry): string | null {
  if (!['DiagnosticReport', 'Observation'].includes(resource.resourceType)) return null;
  const status = String(resource.status);
  const isReport = resource.resourceType === 'DiagnosticReport';
  const persons = isReport ? resource.resultsInterpreter : resource.performer;
  const isSigned = personsSchema.safeParse(persons).success;
  const allowed = isSigned ? SIGNED_STATUSES : DRAFT_STATUSES;
  return allowed.includes(status)
    ? null
    : `status ${status} is not the status of a ${isSigned ? 'signed result' : 'draft'}`;
}

/**
 * Returns whether a resource is a statement of this software: the report, a group of Observations,
 * or an Observation made by its Device. Other Observations contain a value of the ultrasound machine,
 * of the request or of the reader.
 */
function isStatement({ resourceType, device, hasMember }: Entry['resource']): boolean {
  if (resourceType === 'DiagnosticReport') return true;
  return resourceType === 'Observation' && (device !== undefined || hasMember !== undefined);
}

/**
 * Returns the fault in the tags; null if they are correct. A statement of this software must be
 * tagged as asserted by an AI or as test data (exchange 1.2), and no other value as asserted by an AI.
 */
function tagFault({ resource }: Entry): string | null {
  const tagged = metaSchema.safeParse(resource.meta);
  const codes = tagged.success ? tagged.data.security.map(({ code }) => code) : [];
  if (isStatement(resource)) {
    return codes.some((code) => ASSERTED.has(code)) ? null : 'is not tagged as asserted by an AI';
  }
  return resource.resourceType === 'Observation' && codes.some((code) => code === AI_ASSERTED.code)
    ? 'has no device, but is tagged as asserted by an AI'
    : null;
}

/**
 * Finds entries with the same URL or condition, which the receiver would merge into a single
 * resource.
 */
function repeated(entries: readonly Entry[]): string[] {
  const keys = entries.flatMap(({ fullUrl, request }) => [
    ...(fullUrl ? [fullUrl] : []),
    ...(request?.url.includes('?') ? [request.url] : []),
    ...(request?.ifNoneExist ? [`${request.url}?${request.ifNoneExist}`] : []),
  ]);
  return [...new Set(keys.filter((key, index) => keys.indexOf(key) !== index))].map(
    (key) => `two entries have ${key}`,
  );
}

/** Finds Observations in the bundle, except withdrawn ones, that its report does not list. */
function unlisted(entries: readonly Entry[], reports: readonly Entry[]): string[] {
  const listed = new Set(reports.flatMap(({ resource }) => referencesIn(resource.result)));
  return entries
    .filter(({ resource }) => resource.resourceType === 'Observation')
    .filter(
      ({ fullUrl, resource }) =>
        resource.status !== 'entered-in-error' && !listed.has(fullUrl ?? ''),
    )
    .map(({ fullUrl }) => `the report does not list the Observation ${fullUrl}`);
}

/**
 * Checks the rules for our result Bundles: a transaction of conditional writes with consistent
 * statuses and tags, whose references resolve. Structure and value sets are left to a FHIR
 * validator.
 * @returns every fault found; empty for a conforming Bundle.
 */
export function checkBundle(json: unknown): string[] {
  const parsed = bundleSchema.safeParse(json);
  if (!parsed.success) return ['this is not a FHIR Bundle'];
  const { type, entry: entries } = parsed.data;
  const urls = new Set(entries.map(({ fullUrl }) => fullUrl));
  const reports = entries.filter(({ resource }) => resource.resourceType === 'DiagnosticReport');
  return [
    ...(type === 'transaction' ? [] : [`the type is ${type}, not transaction`]),
    ...(reports.length === 1
      ? unlisted(entries, reports)
      : [`there are ${reports.length} reports`]),
    ...repeated(entries),
    ...entries.flatMap((entry, index) => {
      const name = `entry ${index} (${entry.resource.resourceType})`;
      const dangling = referencesIn(entry.resource)
        .filter((reference) => reference.startsWith('urn:uuid:') && !urls.has(reference))
        .map((reference) => `refers to ${reference}, which is not in the Bundle`);
      const faults = [unconditional, observationFault, statusFault, tagFault].map((check) =>
        check(entry),
      );
      return [...faults, ...dangling]
        .filter((fault) => fault !== null)
        .map((fault) => `${name}: ${fault}`);
    }),
  ];
}

/** The prefix of a DICOM file (PS3.10 7.1). */
const PREFIX = { offset: 128, text: 'DICM' } as const;

function checkDicom(bytes: Buffer): { kind: string; faults: string[] } {
  const file = data.DicomMessage.readFile(new Uint8Array(bytes).buffer);
  const dataset = data.DicomMetaDictionary.naturalizeDataset(file.dict);
  const segmentations: readonly unknown[] = Object.values(SEGMENTATION_CLASSES);
  if (segmentations.includes(dataset.SOPClassUID)) {
    return { kind: 'Segmentation', faults: checkSegmentation(dataset) };
  }
  if (dataset.ValueType !== 'CONTAINER') {
    return { kind: 'DICOM', faults: ['this is neither a structured report nor a segmentation'] };
  }
  const faults = checkTemplate(decode(bytes)).map(({ path, rule }) => `${path}: ${rule}`);
  return { kind: 'structured report', faults };
}

/**
 * Checks one file according to its content: structured report, segmentation or FHIR Bundle.
 * @returns what kind of file it is and every fault found.
 */
export function checkContent(bytes: Buffer): { kind: string; faults: string[] } {
  const { offset, text } = PREFIX;
  try {
    if (bytes.toString('latin1', offset, offset + text.length) === text) return checkDicom(bytes);
    return { kind: 'FHIR Bundle', faults: checkBundle(JSON.parse(bytes.toString('utf8'))) };
  } catch (error) {
    const fault =
      error instanceof SyntaxError
        ? 'this is neither DICOM nor JSON'
        : `the file cannot be read: ${(error as Error).message}`;
    return { kind: 'file', faults: [fault] };
  }
}

/** Runs `npx sonogate validate`: prints each file with its faults, and fails if there are any. */
export async function validate(paths: readonly string[], form: AnswerForm): Promise<ExitStatus> {
  const checked: { path: string; kind: string; faults: string[] }[] = [];
  for (const path of paths) checked.push({ path, ...checkContent(await readFile(path)) });
  const lines = checked.flatMap(({ path, kind, faults }) => [
    `${path}: ${kind}, ${faults.length === 0 ? 'no violations' : 'faults:'}`,
    ...faults.map((fault) => `  ${fault}`),
  ]);
  answer(form, checked, lines);
  return checked.every(({ faults }) => faults.length === 0) ? EXIT.success : EXIT.failed;
}
