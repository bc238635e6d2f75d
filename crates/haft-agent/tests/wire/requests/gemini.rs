//! What is sent to a provider that speaks Gemini.

use expect_test::expect;
use haft_agent::wire::Format;
use serde_json::json;

use super::check;

#[test]
fn everything_can_be_said() {
    check(
        Format::Gemini,
        json!("c2ln"),
        expect![[r#"
        POST /v1/models/m-1:streamGenerateContent?alt=sse
        {
          "contents": [
            {
              "role": "user",
              "parts": [
                {
                  "text": "look"
                },
                {
                  "inlineData": {
                    "mimeType": "image/png",
                    "data": "YWJj"
                  }
                },
                {
                  "text": "[attachment left out: z.zip, application/zip cannot be sent to this model]"
                }
              ]
            },
            {
              "role": "model",
              "parts": [
                {
                  "text": "",
                  "thoughtSignature": "c2ln"
                },
                {
                  "text": "I look."
                },
                {
                  "functionCall": {
                    "name": "read",
                    "args": {
                      "filePath": "x"
                    }
                  },
                  "thoughtSignature": "skip_thought_signature_validator"
                },
                {
                  "functionCall": {
                    "name": "read",
                    "args": {
                      "input": "{oops"
                    }
                  }
                }
              ]
            },
            {
              "role": "user",
              "parts": [
                {
                  "functionResponse": {
                    "name": "read",
                    "response": {
                      "output": "an image"
                    }
                  }
                },
                {
                  "functionResponse": {
                    "name": "read",
                    "response": {
                      "error": "no"
                    }
                  }
                },
                {
                  "text": "Attached media from tool result:"
                },
                {
                  "inlineData": {
                    "mimeType": "image/png",
                    "data": "YWJj"
                  }
                },
                {
                  "inlineData": {
                    "mimeType": "application/pdf",
                    "data": "YWJj"
                  }
                },
                {
                  "text": "go on"
                }
              ]
            }
          ],
          "systemInstruction": {
            "parts": [
              {
                "text": "Be brief."
              }
            ]
          },
          "tools": [
            {
              "functionDeclarations": [
                {
                  "name": "read",
                  "description": "Reads.",
                  "parameters": {
                    "type": "object",
                    "properties": {
                      "filePath": {
                        "type": "string"
                      }
                    },
                    "required": [
                      "filePath"
                    ]
                  }
                }
              ]
            }
          ],
          "generationConfig": {
            "temperature": 0.5,
            "maxOutputTokens": 99
          },
          "x_own": 1
        }"#]],
    );
}
