import { z } from 'zod';

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

type Entry = z.infer<typeof entrySchema>;

/** Every `reference` of a resource, at any depth. */
function references(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(references);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'reference' && typeof inner === 'string' ? [inner] : references(inner),
  );
}

/** A repeat must create nothing twice (interop reference 1.1): every write has a condition. */
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
  if (!isUcum) return 'the unit is not of UCUM';
  const hasValue = Object.keys(resource).some((key) => key.startsWith('value'));
  return hasValue && resource.dataAbsentReason ? 'has a value and a reason for its absence' : null;
}

function statusFault({ resource }: Entry): string | null {
  const drafts = ['DiagnosticReport', 'Observation'];
  if (!drafts.includes(resource.resourceType)) return null;
  const { status } = resource;
  const allowed = ['preliminary', 'partial', 'entered-in-error', 'registered'];
  return allowed.includes(String(status))
    ? null
    : `status ${String(status)} is not that of a draft`;
}

/**
 * Checks a result Bundle for what our own must be: a transaction of conditional writes whose
 * references resolve, drafts only. Structure and value sets are for a FHIR validator.
 * @returns every fault found; empty for a conforming Bundle.
 */
export function checkBundle(json: unknown): string[] {
  const parsed = bundleSchema.safeParse(json);
  if (!parsed.success) return ['it is no FHIR Bundle'];
  const { type, entry: entries } = parsed.data;
  const urls = new Set(entries.map(({ fullUrl }) => fullUrl));
  const reports = entries.filter(({ resource }) => resource.resourceType === 'DiagnosticReport');
  return [
    ...(type === 'transaction' ? [] : [`the type is ${type}, not transaction`]),
    ...(reports.length === 1 ? [] : [`there are ${reports.length} reports`]),
    ...entries.flatMap((entry, index) => {
      const name = `entry ${index} (${entry.resource.resourceType})`;
      const dangling = references(entry.resource)
        .filter((reference) => reference.startsWith('urn:uuid:') && !urls.has(reference))
        .map((reference) => `refers to ${reference}, which is not in the Bundle`);
      const faults = [unconditional(entry), observationFault(entry), statusFault(entry)];
      return [...faults, ...dangling]
        .filter((fault) => fault !== null)
        .map((fault) => `${name}: ${fault}`);
    }),
  ];
}
