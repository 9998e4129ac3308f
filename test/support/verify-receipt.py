"""Reads {"receipt", "keys"} and checks the receipt with jwcrypto: as it is, and with each field altered in turn."""

import json
import sys

from jwcrypto import jwk, jws
from jwcrypto.common import base64url_decode, base64url_encode

given = json.load(sys.stdin)
header, payload, signature = given["receipt"].split(".")
kid = json.loads(base64url_decode(header))["kid"]
key = next(jwk.JWK(**one) for one in given["keys"]["keys"] if one["kid"] == kid)


def is_taken(text):
    try:
        token = jws.JWS()
        token.deserialize(text)
        token.verify(key)
        return True
    except jws.InvalidJWSSignature:
        return False


fields = json.loads(base64url_decode(payload))
refused = 0
for name, value in fields.items():
    altered = {**fields, name: f"{value}x"}
    text = base64url_encode(json.dumps(altered, sort_keys=True, separators=(",", ":")))
    refused += not is_taken(f"{header}.{text}.{signature}")
print(json.dumps({"taken": is_taken(given["receipt"]), "fields": len(fields), "refused": refused}))
