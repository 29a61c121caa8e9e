import { describe, expect, test } from 'vitest';
import { decodeCommandSet, encodeCommandSet, responseTo } from '../../../dimse/network/message.ts';
import { answerContexts, whyRejected } from '../../../dimse/network/negotiation.ts';
import {
  type AssociateRequest,
  CONTEXT_RESULT,
  decodeAssociateAccept,
  decodeAssociateRequest,
  encodeAssociateAccept,
} from '../../../dimse/network/pdu.ts';
import { abortFor, rejectionFor, statusFor } from '../../../dimse/network/status.ts';
import { SonogateError } from '../../../src/platform/errors/catalogue.ts';
import { associateRequest } from './raw-peer.ts';

const JPEG = '1.2.840.10008.1.2.4.50';
const EXPLICIT = '1.2.840.10008.1.2.1';
const IMPLICIT = '1.2.840.10008.1.2';
const US = '1.2.840.10008.5.1.4.1.1.6.1';

const request = decodeAssociateRequest(associateRequest().subarray(6));

describe('A-ASSOCIATE-RQ', () => {
  test('is read back as it was written', () => {
    expect(request).toMatchObject({
      calledAeTitle: 'SONOGATE',
      callingAeTitle: 'CART',
      applicationContext: '1.2.840.10008.3.1.1.1',
      maxPduBytes: 16_384,
    });
    expect(request.contexts[1]).toEqual({
      id: 3,
      abstractSyntax: US,
      transferSyntaxes: [EXPLICIT],
    });
  });

  test.each([10, 67, 70, 90, 150])('cut after %i bytes is an unexpected PDU', (bytes) => {
    expect(() => decodeAssociateRequest(associateRequest().subarray(6, 6 + bytes))).toThrowError(
      expect.objectContaining({ code: 'unexpected_pdu' }),
    );
  });

  test.each([
    ['CART', 'CART'],
    ['CART\0\0\0', 'CART'],
    ['CART \0 \0', 'CART'],
    ['  CART', 'CART'],
    ['CART 2', 'CART 2'],
  ])('with the calling AE title %j is of %j', (callingAeTitle, title) => {
    const body = associateRequest({ callingAeTitle }).subarray(6);
    expect(decodeAssociateRequest(body).callingAeTitle).toBe(title);
  });

  test.each([
    { callingAeTitle: 'CA\0RT' },
    { callingAeTitle: '\0CART' },
    { callingAeTitle: 'CART\n' },
    { callingAeTitle: 'CART\x7f' },
    { callingAeTitle: 'CART\x9f' },
    { calledAeTitle: 'SONO\0GATE' },
  ])('with a control character in a title (%j) is an unexpected PDU', (over) => {
    const body = associateRequest(over).subarray(6);
    expect(() => decodeAssociateRequest(body)).toThrowError(
      expect.objectContaining({ code: 'unexpected_pdu' }),
    );
  });

  test.each<[string, Partial<AssociateRequest>, string | null]>([
    ['is taken when the title fits', {}, null],
    ['to another title is refused', { calledAeTitle: 'OTHER' }, 'called_ae_not_recognized'],
    [
      'of another application context is refused',
      { applicationContext: '1.2.3' },
      'application_context_not_supported',
    ],
  ])('%s', (_what, over, code) => {
    expect(whyRejected({ ...request, ...over }, 'SONOGATE')).toBe(code);
  });
});

describe('presentation contexts', () => {
  const offer = (uid: string) =>
    uid === US ? { preferred: [EXPLICIT, IMPLICIT], others: [JPEG] } : null;
  const answer = (abstractSyntax: string, transferSyntaxes: string[]) =>
    answerContexts([{ id: 1, abstractSyntax, transferSyntaxes }], offer).answers[0];

  test('of the preferred syntaxes the sender chooses by its order', () => {
    expect(answer(US, [IMPLICIT, EXPLICIT])?.transferSyntax).toBe(IMPLICIT);
    expect(answer(US, ['1.2.3', EXPLICIT, IMPLICIT])?.transferSyntax).toBe(EXPLICIT);
  });

  test('another is taken where there is no preferred one', () => {
    const accepted = { id: 1, result: CONTEXT_RESULT.accepted };
    expect(answer(US, [JPEG, IMPLICIT])).toEqual({ ...accepted, transferSyntax: IMPLICIT });
    expect(answer(US, ['1.2.3', JPEG])).toEqual({ ...accepted, transferSyntax: JPEG });
  });

  test('an unknown class and an unknown transfer syntax have different results', () => {
    expect(answer('1.2.3', [EXPLICIT])?.result).toBe(CONTEXT_RESULT.abstractSyntaxNotSupported);
    expect(answer(US, ['1.2.3'])?.result).toBe(CONTEXT_RESULT.transferSyntaxesNotSupported);
  });

  test('survive the A-ASSOCIATE-AC', () => {
    const contexts = [{ id: 5, result: 0, transferSyntax: JPEG }];
    const pdu = encodeAssociateAccept({ ...request, contexts, maxPduBytes: 131_072 });
    expect(decodeAssociateAccept(pdu.subarray(6))).toMatchObject({
      contexts,
      maxPduBytes: 131_072,
    });
  });
});

test('the titles of an A-ASSOCIATE-AC are not looked at', () => {
  const pdu = encodeAssociateAccept({ ...request, callingAeTitle: 'CA\0RT', contexts: [] });
  expect(decodeAssociateAccept(pdu.subarray(6)).contexts).toEqual([]);
});

describe('a command set', () => {
  const command = {
    commandField: 1,
    hasDataSet: true,
    messageId: 7,
    priority: 0,
    affectedSopClassUid: US,
    affectedSopInstanceUid: '1.2.3',
  };

  test('is read back as it was written', () => {
    expect(decodeCommandSet(encodeCommandSet(command))).toMatchObject(command);
  });

  test('cut short is an unexpected PDU', () => {
    expect(() => decodeCommandSet(encodeCommandSet(command).subarray(0, 33))).toThrowError(
      expect.objectContaining({ code: 'unexpected_pdu' }),
    );
  });

  test('is answered with its message id, and a comment of at most 64 characters', () => {
    const response = responseTo(command, 0xa700, 'x'.repeat(80));
    expect(response).toMatchObject({ commandField: 0x8001, messageIdBeingRespondedTo: 7 });
    expect(response.errorComment).toHaveLength(64);
  });
});

describe('the catalogue on the wire', () => {
  test('names abort, rejection and status', () => {
    expect(abortFor('pdu_too_large')).toEqual({ source: 2, reason: 6 });
    expect(rejectionFor('called_ae_not_recognized')).toEqual({ result: 1, source: 1, reason: 7 });
    expect(statusFor(new SonogateError('object_mismatch')).status).toBe(0xa900);
  });

  test('our own defect asks the sender to try again, and its text does not leave', () => {
    expect(statusFor(new Error('secret'))).toEqual({ status: 0xa700, comment: 'Out of resources' });
  });
});
