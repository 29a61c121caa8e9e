import { describe, expect, test } from 'vitest';
import {
  identifierQuery,
  medicalRecordNumber,
  resourceUuid,
  resultIdentifier,
  searchToken,
} from '../../../fhir/resources/identifiers.ts';

describe('the UUID of a resource', () => {
  test('is a version 5 UUID, the same for the same request and role', () => {
    const uuid = resourceUuid('req_1', 'Device');
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(resourceUuid('req_1', 'Device')).toBe(uuid);
  });
  test('differs by role and by request', () => {
    const uuids = [resourceUuid('a', 'x'), resourceUuid('a', 'y'), resourceUuid('b', 'x')];
    expect(new Set(uuids).size).toBe(3);
  });
});

test('a medical record number keeps its zeros and its case, but loses its padding', () => {
  expect(medicalRecordNumber('urn:oid:1.2', ' 00aB ').value).toBe('00aB');
});

test('a search token escapes the characters that have a meaning in FHIR searches', () => {
  expect(searchToken({ system: 'urn:x', value: 'a,b|c$d\\e' })).toBe('urn:x|a\\,b\\|c\\$d\\\\e');
});

test('a conditional query is percent-encoded entirely', () => {
  expect(identifierQuery({ system: 'https://h/r', value: 'req/1&b' })).toBe(
    'identifier=https%3A%2F%2Fh%2Fr%7Creq%2F1%26b',
  );
});

test('an identifier without a destination is the UUID itself', () => {
  expect(resultIdentifier(null, 'req_1', 'hc')).toEqual({
    system: 'urn:ietf:rfc:3986',
    value: `urn:uuid:${resourceUuid('req_1', 'hc')}`,
  });
});
