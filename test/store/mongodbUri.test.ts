import { expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import { hostsOfMongodbUri } from '../../store/mongodbUri.js';
import { everyRow } from '../support/everyRow.js';

/** URIs, and their hosts; null: the URI is invalid. */
const ROWS: [uri: string, hosts: string[] | null][] = [
  ['mongodb://a', ['a']],
  ['mongodb://a:27017,b:27017/x?replicaSet=rs', ['a:27017', 'b:27017']],
  ['mongodb://a,b:1,c?replicaSet=rs&w=majority', ['a', 'b:1', 'c']],
  ['mongodb://u:p%40%2F@[::1]:27017,b/x?authSource=admin', ['[::1]:27017', 'b']],
  ['mongodb://mongodb_1:27017,mongodb_2:27017/', ['mongodb_1:27017', 'mongodb_2:27017']],
  ['mongodb://%2Ftmp%2Fmongodb-27017.sock/x', ['%2Ftmp%2Fmongodb-27017.sock']],
  ['mongodb+srv://u:p@cluster0.example.com/x', ['cluster0.example.com']],
  ['mongodb+srv://a.example.com,b.example.com/x', null],
  ['mongodb+srv://a.example.com:27017/x', null],
  ['mongodb://', null],
  ['a:27017', null],
  ['http://a:27017', null],
  ['mongodb://a:port/x', null],
  ['mongodb://a:0/x', null],
  ['mongodb://a:99999,b/x', null],
  ['mongodb://a:1:2/x', null],
  ['mongodb://[::1/x', null],
  ['mongodb://u:secret@word@a/x', null],
  ['mongodb://u:secret/word@a/x', null],
  ['mongodb://u:secret%word@a/x', null],
  ['mongodb://secret%zz.sock/x', null],
];

test('accepts the URIs that the driver accepts; the error for another URI does not contain its password', () =>
  everyRow(
    ROWS,
    ([uri]) => uri,
    ([uri, hosts]) => {
      const openDriver = () => new mongoose.mongo.MongoClient(uri);
      if (hosts === null) {
        expect(openDriver).toThrow();
        expect(() => hostsOfMongodbUri(uri)).toThrow(/^must be a URI like mongodb:/);
        expect(() => hostsOfMongodbUri(uri)).not.toThrow('secret');
      } else {
        expect(openDriver).not.toThrow();
        expect(hostsOfMongodbUri(uri)).toEqual(hosts);
      }
    },
  ));
