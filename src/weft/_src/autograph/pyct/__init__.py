"""Source machinery: from functions to syntax trees and back."""
